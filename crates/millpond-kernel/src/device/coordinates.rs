//! From the number of an element to its coordinates: by divisors that are known at the launch.

use std::fmt::Write;

use millpond_hal::code::Arguments;

/// Appends a number that indices are divided by. Where an axis has no elements, nothing is.
pub(super) fn push_divisor(arguments: &mut Arguments, size: usize, is_long: bool) {
    let size = size.max(1);
    if is_long {
        return arguments.push((size as u64).to_ne_bytes());
    }
    let (factor, shift) = factor(size as u32);
    for word in [size as u32, factor, shift] {
        arguments.push(word.to_ne_bytes());
    }
}

/// By what numbers of 31 bits are multiplied and shifted to divide them: with the shift `s` such that
/// `2^s` isn't below the divisor, the factor is `2^(32 + s) / divisor` rounded up, less `2^32`.
fn factor(divisor: u32) -> (u32, u32) {
    let shift = u32::BITS - divisor.saturating_sub(1).leading_zeros();
    let excess = (1_u64 << shift) - u64::from(divisor);
    (
        (excess << 32).div_euclid(u64::from(divisor)) as u32 + 1,
        shift,
    )
}

/// Appends the members that [`push_divisor`] fills, for all axes but the outermost.
pub(super) fn write_divisors(text: &mut String, prefix: &str, axes: usize, is_long: bool) {
    let divisor = if is_long {
        "mp::long_divisor"
    } else {
        "mp::short_divisor"
    };
    for axis in 1..axes {
        let _ = writeln!(text, "    {divisor} {prefix}_axis{axis};");
    }
}

/// Appends the coordinates of a number along axes, the prefix followed by 0 and so on.
pub(super) fn write_coordinates(text: &mut String, number: &str, prefix: &str, axes: usize) {
    let mut rest = number.to_owned();
    for axis in (1..axes).rev() {
        let divisor = format!("a.{prefix}_axis{axis}");
        let _ = writeln!(
            text,
            "    const Index {prefix}q{axis} = mp::quotient({rest}, {divisor}), {prefix}{axis} = {rest} - {prefix}q{axis} * Index({divisor}.size);"
        );
        rest = format!("{prefix}q{axis}");
    }
    if axes > 0 {
        let _ = writeln!(text, "    const Index {prefix}0 = {rest};");
    }
}

#[cfg(test)]
mod tests {
    use super::factor;

    #[test]
    fn products_divide_every_number_of_31_bits() {
        let divisors = (1..2000).chain([3 << 20, (1 << 30) - 1, 1 << 30, (1 << 31) - 1]);
        for divisor in divisors {
            let (factor, shift) = factor(divisor);
            let edges = [0, 1, (1 << 31) - 1].into_iter();
            let multiples = [1, 2, 3, 12345].into_iter().flat_map(|times| {
                let near = u64::from(divisor) * times;
                [near - 1, near, near + 1]
            });
            for value in edges.chain(multiples.filter(|&value| value < 1 << 31)) {
                let high = (value * u64::from(factor)) >> 32;
                assert_eq!(
                    (high + value) >> shift,
                    value / u64::from(divisor),
                    "{value} by {divisor}"
                );
            }
        }
    }
}
