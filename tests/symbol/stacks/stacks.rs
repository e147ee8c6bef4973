// The same for Rust: closures, iterators, boxed functions, generics.
use std::hint::black_box;

#[no_mangle]
#[inline(never)]
pub extern "C" fn stop_here(n: i32) {
    black_box(n);
}

#[inline(never)]
fn generic<T: Into<i64> + Copy>(x: T, depth: u32) -> i64 {
    if depth == 0 {
        stop_here(1);
        return x.into();
    }
    generic(x, depth - 1) + black_box(x.into())
}

#[inline(never)]
fn boxed(f: &dyn Fn(i32) -> i32) -> i32 {
    f(3) + black_box(1)
}

fn main() {
    let base = black_box(7);
    generic(black_box(5i32), 4);
    generic(black_box(5u8), 2);
    boxed(&|x| {
        stop_here(x);
        x + base
    });
    let mut v = vec![3, 1, 2];
    v.sort_by(|a, b| {
        stop_here(*a);
        a.cmp(b)
    });
    let sum: i32 = v.iter().map(|x| { stop_here(*x); x * 2 }).filter(|x| *x > 1).sum();
    std::thread::spawn(move || stop_here(sum)).join().unwrap();
}
