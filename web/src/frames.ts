/*
 * Work that can wait for a frame: making, drawing and announcing charts. A frame takes the jobs that
 * fit into its budget and leaves the rest to the next one, so that however many charts there are the
 * page answers in between. A job that is asked for again while it waits is done once.
 */
const budgetMs = 8, jobsMost = 6;

/* What was done so far, for tests and the console: tachoWork. */
export const work = { frames: 0, jobs: 0, most: 0, draws: 0, plots: 0, longest: 0 };
Object.assign(globalThis, { tachoWork: work });

const waiting = new Set<() => void>();
let asked = false;

function frame() {
	const start = performance.now();
	let n = 0;
	for (const job of waiting) {
		waiting.delete(job);
		try {
			job();
		} catch (e) {
			reportError(e);		/* one chart's trouble is not its neighbours' */
		}
		if (++n >= jobsMost || performance.now() - start >= budgetMs) break;
	}
	work.frames++;
	work.jobs += n;
	work.most = Math.max(work.most, n);
	work.longest = Math.max(work.longest, performance.now() - start);
	asked = waiting.size > 0;
	if (asked) requestAnimationFrame(frame);
}

export function soon(job: () => void) {
	waiting.add(job);
	if (asked) return;
	asked = true;
	requestAnimationFrame(frame);
}

export const never = (job: () => void) => void waiting.delete(job);
