/** Values that are nested deeply. */

/** A map in a map in a map, `levels` of them. */
export function nested(levels: number): Record<string, unknown> {
  let value: Record<string, unknown> = { a: 1 };
  for (let level = 1; level < levels; level++) value = { a: value };
  return value;
}

/** The error of a function that calls itself too often. */
export function stackOverflow(): unknown {
  const fall = (): number => 1 + fall();
  try {
    return fall();
  } catch (error) {
    return error;
  }
}
