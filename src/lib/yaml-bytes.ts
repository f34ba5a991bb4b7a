/** Bytes of a YAML text as a string: UTF-8, or UTF-16 if a byte order mark says so, as YAML allows and some editors write. */
export function textOfYaml(bytes: Uint8Array): string {
  const [first, second] = bytes;
  const content = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (first === 0xff && second === 0xfe) return content.subarray(2).toString('utf16le');
  if (first !== 0xfe || second !== 0xff) return content.toString('utf8');
  // A copy, because the bytes are swapped in place; an odd one at the end is left out.
  return Buffer.from(content.subarray(2, content.length - (content.length % 2)))
    .swap16()
    .toString('utf16le');
}
