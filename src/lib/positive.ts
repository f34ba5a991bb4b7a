/** Values that programs return: positive numbers, since NaN and 0 would be loops without a pause, and how messages show them. */

/** Whether it is a finite number above 0. */
export const isPositive = (value: unknown): value is number =>
  typeof value === 'number' && value > 0 && value < Infinity;

/** A value that is not a secret, for messages. */
export const shown = (value: unknown): string => {
  if (typeof value === 'string') return JSON.stringify(value);
  return typeof value === 'object' && value !== null ? 'an object' : String(value);
};
