const MIB = 2 ** 20;

/** A number of bytes for messages: `16 MiB`, or `1000 bytes` if it is not a multiple of a MiB. */
export const sizeText = (bytes: number): string =>
  bytes % MIB === 0 ? `${String(bytes / MIB)} MiB` : `${String(bytes)} bytes`;
