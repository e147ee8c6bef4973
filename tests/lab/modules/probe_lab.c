// SPDX-License-Identifier: MIT
/* Functions to be probed: writing N to the parameter `item` calls lab_take() with an item of that value, which returns N + 1. */
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/string.h>

struct lab_item {
	struct lab_item *next;
	int value;
	char name[16];
	unsigned int small : 3, large : 9;
};

static int taken;

static noinline __noclone int lab_take(struct lab_item *item, int count)
{
	int sum = 0;

	for (; item; item = item->next)
		sum += item->value;
	taken += sum;
	barrier();
	return sum + count;
}

static int item_set(const char *text, const struct kernel_param *param)
{
	struct lab_item item = { .name = "first", .small = 5, .large = 300 };
	int err = kstrtoint(text, 0, &item.value);

	(void)param;
	if (err)
		return err;
	taken = lab_take(&item, 1);
	return 0;
}

static int item_get(char *out, const struct kernel_param *param)
{
	(void)param;
	return sprintf(out, "%d\n", taken);
}

static const struct kernel_param_ops item_ops = { .set = item_set, .get = item_get };
module_param_cb(item, &item_ops, NULL, 0600);
MODULE_LICENSE("Dual MIT/GPL");
