/** Exact arithmetic with the decimal digits of numbers, as programs that read JSON numbers as fractions have it. */

/** A number as `digits` times ten to the power of `exponent`. */
function decimalOf(value: number): { readonly digits: bigint; readonly exponent: number } {
  const [mantissa = '0', power = '0'] = String(value).split('e');
  const [whole = '0', fraction = ''] = mantissa.split('.');
  return { digits: BigInt(whole + fraction), exponent: Number(power) - fraction.length };
}

/** Whether the quotient of two finite numbers is an integer: 0.29 is a multiple of 0.01. */
export function isMultipleOf(value: number, factor: number): boolean {
  const [a, b] = [decimalOf(value), decimalOf(factor)];
  if (b.digits === 0n) return false;
  const common = Math.min(a.exponent, b.exponent);
  const scaled = ({ digits, exponent }: typeof a): bigint => digits * 10n ** BigInt(exponent - common);
  return scaled(a) % scaled(b) === 0n;
}
