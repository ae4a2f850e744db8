//! Polynomials and constants of the lane functions, made by `fit/vector_math.py`; don't edit.
//!
//! Highest power first. The suffix names the format: `F64`, `F32` for sums in `f32`, `WIDE` for `f32` results
//! summed in `f64`.

/// `(e^r - 1 - r) / r²` for `|r| <= ln 2 / 2`.
///
/// Largest error 1.4e-18.
pub(super) const EXP_F64: &[f64] = &[
    2.091483135138041e-09,
    2.5105419192016337e-08,
    2.7557273295539724e-07,
    2.75572549134867e-06,
    2.4801587325822283e-05,
    0.00019841269875205077,
    0.001388888888888367,
    0.008333333333326025,
    0.04166666666666667,
    0.1666666666666667,
    0.5,
];

/// `(e^r - 1 - r) / r²` for `|r| <= ln 2 / 2`.
///
/// Largest error 1.4e-9.
pub(super) const EXP_F32: &[f32] = &[
    0.0001989118,
    0.0013933821,
    0.0083333105,
    0.041666463,
    0.16666667,
    0.5,
];

/// `(e^r - 1 - r) / r²` for `|r| <= ln 2 / 2`.
///
/// Largest error 2.7e-11.
pub(super) const EXP_WIDE: &[f64] = &[
    2.485981068352248e-05,
    0.00019899506525511751,
    0.0013888853769855418,
    0.008333298203871147,
    0.041666666719612104,
    0.1666666671962903,
    0.5,
];

/// `(2 atanh(s) / s - 2) / z` for `z = s²`, `s = f / (2 + f)`, `1 + f` within √½ and √2.
///
/// Largest error 3.1e-16.
pub(super) const LOG_F64: &[f64] = &[
    0.14617807153417325,
    0.15331611722055008,
    0.1818289243253687,
    0.22222211089379496,
    0.28571428626253836,
    0.3999999999989889,
    0.666666666666667,
];

/// `(2 atanh(s) / s - 2) / z` for `z = s²`, `s = f / (2 + f)`, `1 + f` within √½ and √2.
///
/// Largest error 1.9e-7.
pub(super) const LOG_F32: &[f32] = &[0.29580986, 0.3998876, 0.66666687];

/// `(2 atanh(s) / s - 2) / z` for `z = s²`, `s = f / (2 + f)`, `1 + f` within √½ and √2.
///
/// Largest error 1.2e-9.
pub(super) const LOG_WIDE: &[f64] = &[
    0.23331614471843498,
    0.28550778633191964,
    0.4000012221181065,
    0.6666666655404201,
];

/// `(sin(r) / r - 1) / z` for `z = r²`, `|r| <= π/4`.
///
/// Largest error 1.2e-20.
pub(super) const SIN_F64: &[f64] = &[
    -7.586576588171073e-13,
    1.6058529572267877e-10,
    -2.5052106219521895e-08,
    2.755731921930192e-06,
    -0.00019841269841265017,
    0.008333333333333331,
    -0.16666666666666666,
];

/// `(sin(r) / r - 1) / z` for `z = r²`, `|r| <= π/4`.
///
/// Largest error 2.8e-11.
pub(super) const SIN_F32: &[f32] = &[2.7249314e-06, -0.00019840083, 0.008333332, -0.16666667];

/// `(cos(r) - 1 + z/2) / z²` for `z = r²`, `|r| <= π/4`.
///
/// Largest error 1.3e-18.
pub(super) const COS_F64: &[f64] = &[
    -1.1382456778061306e-11,
    2.0876143827993133e-09,
    -2.7557317260008837e-07,
    2.480158729874307e-05,
    -0.0013888888888887382,
    0.041666666666666664,
];

/// `(cos(r) - 1 + z/2) / z²` for `z = r²`, `|r| <= π/4`.
///
/// Largest error 2.0e-9.
pub(super) const COS_F32: &[f32] = &[2.4547437e-05, -0.00138883, 0.041666664];

/// `(sinh(x) / x - 1) / z` for `z = x²`, `|x| <= 1`.
///
/// Largest error 3.5e-19.
pub(super) const SINH_F64: &[f64] = &[
    7.746278224810715e-13,
    1.6057676882739475e-10,
    2.50521177239532e-08,
    2.7557319191250885e-06,
    0.00019841269841324471,
    0.008333333333333299,
    0.16666666666666666,
];

/// `(sinh(x) / x - 1) / z` for `z = x²`, `|x| <= 1`.
///
/// Largest error 2.0e-10.
pub(super) const SINH_F32: &[f32] = &[2.8063312e-06, 0.00019838095, 0.008333339, 0.16666667];

/// `(atan(t) / t - 1) / z` for `z = t²`, `|t| <= tan(π/8)`.
///
/// Largest error 3.2e-17.
pub(super) const ATAN_F64: &[f64] = &[
    -0.019162068915902573,
    0.03921955253255129,
    -0.05085030492810941,
    0.058580687568615106,
    -0.06664502215671447,
    0.07692182535116648,
    -0.09090904549884611,
    0.11111111014561013,
    -0.14285714284657894,
    0.1999999999999548,
    -0.3333333333333333,
];

/// `(atan(t) / t - 1) / z` for `z = t²`, `|t| <= tan(π/8)`.
///
/// Largest error 5.4e-10.
pub(super) const ATAN_WIDE: &[f64] = &[
    0.05046128167603517,
    -0.08623896669600505,
    0.11071260444313767,
    -0.14284145548273774,
    0.19999977153974205,
    -0.33333333278951577,
];

/// `(asin(x) / x - 1) / z` for `z = x²`, `|x| <= 1/2`.
///
/// Largest error 1.5e-17.
pub(super) const ASIN_F64: &[f64] = &[
    0.028799050522138873,
    -0.014910967384172082,
    0.01743786618606299,
    0.005444236358400044,
    0.010325825844686153,
    0.011478727335132069,
    0.013971257700218363,
    0.01735238980570733,
    0.022372173062100795,
    0.03038194413563282,
    0.04464285714639142,
    0.07499999999998415,
    0.16666666666666669,
];

/// `(asin(x) / x - 1) / z` for `z = x²`, `|x| <= 1/2`.
///
/// Largest error 2.5e-10.
pub(super) const ASIN_WIDE: &[f64] = &[
    0.030996385256657273,
    0.010559473855409748,
    0.023615613781587094,
    0.03026869911475286,
    0.0446476865690981,
    0.07499992362386085,
    0.16666666686208717,
];

/// As `LOG_WIDE`, for logarithms that are multiplied by up to 2⁸.
///
/// Largest error 7.3e-12.
pub(super) const LOG_POWER: &[f64] = &[
    0.19363884986633198,
    0.22191337428065783,
    0.28571755535032944,
    0.3999999879244169,
    0.6666666666737868,
];

/// `(2 atanh(s) / s - 2 - 2z/3) / z²` for `z = s²`, for the two-part logarithm.
///
/// Largest error 1.9e-18.
pub(super) const LOG_TAIL: &[f64] = &[
    0.11724327060846747,
    0.11706126464563398,
    0.1333480879881234,
    0.1538459488700718,
    0.18181818336099848,
    0.22222222221652765,
    0.2857142857142937,
    0.4,
];

/// `m^(-1/3)` for `m` from √½ to √2, a first approximation.
///
/// Largest error 1.2e-6.
pub(super) const INVERSE_CBRT: &[f64] = &[
    0.09039607708119622,
    -0.6825991903503612,
    2.2052801543409326,
    -3.9752466321735342,
    4.3861736045698985,
    -3.130448833606154,
    2.106445644055421,
];

/// Part 1 of ln 2; multiples up to 2²¹ of the first are exact.
pub(super) const LN_2_H: f64 = 0.6931471806019545;

/// Part 2 of ln 2; multiples up to 2²¹ of the first are exact.
pub(super) const LN_2_L: f64 = -4.2009150726810846e-11;

/// Part 1 of ln 2.
pub(super) const LN_2_FULL_H: f64 = 0.6931471805599453;

/// Part 2 of ln 2.
pub(super) const LN_2_FULL_L: f64 = 2.3190468138462996e-17;

/// Part 1 of ln 2; multiples up to 2¹⁴ of the first are exact.
pub(super) const LN_2_F32_H: f32 = 0.6933594;

/// Part 2 of ln 2; multiples up to 2¹⁴ of the first are exact.
pub(super) const LN_2_F32_L: f32 = -0.00021219444;

/// Part 1 of ln 2.
pub(super) const LN_2_FULL_F32_H: f32 = 0.6931472;

/// Part 2 of ln 2.
pub(super) const LN_2_FULL_F32_L: f32 = -1.9046542e-09;

/// Part 1 of 1 / ln 2.
pub(super) const LOG2_E_H: f64 = 1.4426950408889634;

/// Part 2 of 1 / ln 2.
pub(super) const LOG2_E_L: f64 = 2.0355273740931033e-17;

/// Part 1 of 1 / ln 2.
pub(super) const LOG2_E_F32_H: f32 = 1.442695;

/// Part 2 of 1 / ln 2.
pub(super) const LOG2_E_F32_L: f32 = 1.925963e-08;

/// Part 1 of 1 / ln 10.
pub(super) const LOG10_E_H: f64 = 0.4342944819032518;

/// Part 2 of 1 / ln 10.
pub(super) const LOG10_E_L: f64 = 1.098319650216765e-17;

/// Part 1 of 1 / ln 10.
pub(super) const LOG10_E_F32_H: f32 = 0.4342945;

/// Part 2 of 1 / ln 10.
pub(super) const LOG10_E_F32_L: f32 = -1.010305e-08;

/// Part 1 of log10(2); multiples up to 2²¹ of the first are exact.
pub(super) const LOG10_2_H: f64 = 0.3010299956658855;

/// Part 2 of log10(2); multiples up to 2²¹ of the first are exact.
pub(super) const LOG10_2_L: f64 = -1.9043128467164274e-12;

/// Part 1 of log10(2); multiples up to 2¹⁴ of the first are exact.
pub(super) const LOG10_2_F32_H: f32 = 0.30126953;

/// Part 2 of log10(2); multiples up to 2¹⁴ of the first are exact.
pub(super) const LOG10_2_F32_L: f32 = -0.00023953558;

/// Part 1 of π/2.
pub(super) const FRAC_PI_2_H: f64 = 1.5707963267948966;

/// Part 2 of π/2.
pub(super) const FRAC_PI_2_M: f64 = 6.123233995736766e-17;

/// Part 3 of π/2.
pub(super) const FRAC_PI_2_L: f64 = -1.4973849048591698e-33;

/// Part 1 of π/2.
pub(super) const FRAC_PI_2_F32_H: f32 = 1.5707964;

/// Part 2 of π/2.
pub(super) const FRAC_PI_2_F32_M: f32 = -4.371139e-08;

/// Part 3 of π/2.
pub(super) const FRAC_PI_2_F32_L: f32 = -1.7151245e-15;

/// Part 1 of 2/3.
pub(super) const THIRD_2_H: f64 = 0.6666666666666666;

/// Part 2 of 2/3.
pub(super) const THIRD_2_L: f64 = 3.700743415417188e-17;

/// 2^(-1/3).
pub(super) const CBRT_HALF: f64 = 0.7937005259840998;

/// 2^(-2/3).
pub(super) const CBRT_QUARTER: f64 = 0.6299605249474366;
