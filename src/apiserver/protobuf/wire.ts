/** The wire format of protobuf: a sequence of numbered fields. Pure. */

export interface WireField {
  readonly number: number;
  /** Length-delimited and fixed-size fields. */
  readonly bytes?: Buffer;
  /** Varints. */
  readonly value?: bigint;
}

/** @throws RangeError if the data ends too early, or contains an unsupported wire type */
export function fieldsOnWire(bytes: Buffer): WireField[] {
  const fields: WireField[] = [];
  let at = 0;
  const varint = (): bigint => {
    let result = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = bytes[at++];
      if (byte === undefined || shift > 63n) throw new RangeError('the number does not end');
      result |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return result;
    }
  };
  const take = (length: number): Buffer => {
    if (at + length > bytes.length) throw new RangeError('the field is longer than the message');
    at += length;
    return bytes.subarray(at - length, at);
  };
  while (at < bytes.length) {
    const tag = Number(varint());
    const number = tag >>> 3;
    switch (tag & 7) {
      case 0:
        fields.push({ number, value: varint() });
        break;
      case 1:
        fields.push({ number, bytes: take(8) });
        break;
      case 2:
        fields.push({ number, bytes: take(Number(varint())) });
        break;
      case 5:
        fields.push({ number, bytes: take(4) });
        break;
      default:
        throw new RangeError(`wire type ${tag & 7} is not in use`);
    }
  }
  return fields;
}
