/** The two SHA-1 forms on the wire: hex for contents, base32 for object names. */
import { createHash } from 'node:crypto';

const ALPHABET = 'abcdefghijklmnopqrstuvwxyz234567';

export const sha1Hex = (content: string | Uint8Array): string =>
  createHash('sha1').update(content).digest('hex');

/** SHA-1 of the text in lower-case base32 without padding: 32 characters, valid as an object name. */
export function sha1Name(text: string): string {
  let bits = 0;
  let value = 0;
  let name = '';
  for (const byte of createHash('sha1').update(text, 'utf8').digest()) {
    value = (value << 8) | byte;
    bits += 8;
    while (bits >= 5) {
      bits -= 5;
      name += ALPHABET.charAt((value >>> bits) & 31);
    }
    value &= (1 << bits) - 1;
  }
  return name;
}
