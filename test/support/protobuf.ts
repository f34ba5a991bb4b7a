/** Protobuf bodies as Go programs write them: with a zero for every scalar that is not a pointer. */

const varint = (value: number): Buffer => {
  const bytes: number[] = [];
  for (let rest = value; ; rest = Math.floor(rest / 128)) {
    if (rest < 128) return Buffer.from([...bytes, rest]);
    bytes.push((rest % 128) | 128);
  }
};

const delimited = (field: number, bytes: Buffer): Buffer =>
  Buffer.concat([varint(field * 8 + 2), varint(bytes.length), bytes]);

export const text = (field: number, value = ''): Buffer => delimited(field, Buffer.from(value));
export const int = (field: number, value = 0): Buffer => Buffer.concat([varint(field * 8), varint(value)]);
export const flag = (field: number, isSet = false): Buffer => int(field, isSet ? 1 : 0);
export const message = (field: number, ...fields: readonly Buffer[]): Buffer =>
  delimited(field, Buffer.concat(fields));
export const entry = (field: number, key: string, value: string): Buffer =>
  message(field, text(1, key), text(2, value));

/** The fields of an object, in the envelope that names its kind. */
export const body = (apiVersion: string, kind: string, ...fields: readonly Buffer[]): Buffer =>
  Buffer.concat([
    Buffer.from('k8s\0'),
    message(1, text(1, apiVersion), text(2, kind)),
    message(2, ...fields),
    text(3),
    text(4),
  ]);
