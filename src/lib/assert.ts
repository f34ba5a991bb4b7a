/** Ends a switch over a union: the compiler complains when a case is missing, the program when a value is alien. */
export function assertNever(value: never): never {
  throw new TypeError(`unexpected value ${JSON.stringify(value)}`);
}
