const MIB = 2 ** 20;

/** A number of bytes for messages: `16 MiB`, or `1000 bytes` where it is no whole number of MiB. */
export const sizeText = (bytes: number): string =>
  bytes % MIB === 0 ? `${String(bytes / MIB)} MiB` : `${String(bytes)} bytes`;
