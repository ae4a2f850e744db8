//! Tensors: heat spreads over a plate, by whole arrays.
//!
//! Shows: making arrays, views that share memory, operators that mix arrays and numbers, writing
//! to a view, reductions, and one wait at the end.
#![allow(clippy::print_stdout, reason = "examples talk to their reader")]

use std::error::Error;
use std::f64::consts::PI;

use millpond::Scalar;
use millpond::tensor::{Index, Place, Tensor, range};

/// Points along each side, and the steps of time.
const SIZE: usize = 129;
const STEPS: i32 = 200;

/// How much of the difference to its neighbours a point takes over in one step.
const RATE: f64 = 0.2;

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let place = Place::on(&millpond::default_device()?.default_queue()?);

    // One arch over the plate, cold at the borders.
    let (zero, pi) = (Scalar::from(0.0), Scalar::from(PI));
    let wave = range::linspace(zero, pi, SIZE, true, None, &place)?.sin()?;
    let plate = (&wave.expand_dims(&[1])? * &wave)?;
    let hottest = plate.max(None, false)?;

    // Views are made once and show what is written later: they share the memory.
    let last = SIZE as isize - 1;
    let part = |down: isize, right: isize| {
        let rows = Index::range(1 + down, last + down);
        let columns = Index::range(1 + right, last + right);
        plate.get(&[rows, columns])
    };
    let inner = part(0, 0)?;
    let neighbours = [part(-1, 0)?, part(1, 0)?, part(0, -1)?, part(0, 1)?];
    for _ in 0..STEPS {
        step(&inner, &neighbours)?;
    }

    // Everything above was submitted; this waits.
    let cooled = plate.max(None, false)?.divide(&hottest)?.item()?.to_f64();

    // The arch keeps its form and shrinks by the same factor in each step.
    let factor = 1.0 - 8.0 * RATE * (PI / (2.0 * last as f64)).sin().powi(2);
    let expected = factor.powi(STEPS);
    println!("the hottest point kept {cooled:.6} of its heat; {expected:.6} by theory");
    assert!((cooled - expected).abs() < 1e-12);
    Ok(())
}

/// Lets each point approach the mean of its neighbours.
fn step(inner: &Tensor, [up, down, left, right]: &[Tensor; 4]) -> millpond::tensor::Result<()> {
    let around = (&(up + down)? + &(left + right)?)?;
    let change = (&around.subtract(&(inner * 4)?)? * RATE)?;
    inner.assign(&(inner + &change)?)
}
