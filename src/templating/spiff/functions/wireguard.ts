/** Keys for WireGuard: 32 bytes in base 64. */
import { createPrivateKey, createPublicKey } from 'node:crypto';
import { quoteString } from '../../go/quote.ts';
import type { SpiffFunction, SpiffFunctionTable } from '../function.ts';
import type { SpiffValue } from '../value.ts';
import { count, fail, text } from './arguments.ts';
import { randomBytes } from './random.ts';

const SIZE = 32;
/** The PKCS 8 prefix of an X25519 key. */
const PKCS8 = Buffer.from('302e020100300506032b656e04220420', 'hex');

const generate: SpiffFunction = (args, { rng }) => {
  count(args, 0, 1, 'a maximum of one argument expected for wggenkey');
  const kind =
    args.length === 0
      ? 'private'
      : text(args[0], 'argument for wggenkey must be a string (private or preshared)');
  const key = randomBytes(rng, SIZE);
  if (kind === 'private') {
    key.writeUInt8(key.readUInt8(0) & 248, 0);
    key.writeUInt8((key.readUInt8(SIZE - 1) & 127) | 64, SIZE - 1);
  } else if (kind !== 'preshared') fail(`invalid key type ${quoteString(kind)}, use private or preshared`);
  return key.toString('base64');
};

/** The message does not contain the key, unlike the original's. */
function publicKey(args: readonly SpiffValue[]): SpiffValue {
  count(args, 1, 1, 'one argument required for "wgpublickey"');
  const source = text(args[0], 'argument for wgpublickey must be a provate wireguard key (string)');
  const plain = source.replace(/[\r\n]/g, '');
  const bytes = Buffer.from(plain, 'base64');
  if (bytes.toString('base64') !== plain) fail('error parsing key: it is no base 64');
  if (bytes.length !== SIZE) fail(`error parsing key: incorrect key size: ${String(bytes.length)}`);
  const key = createPrivateKey({ key: Buffer.concat([PKCS8, bytes]), format: 'der', type: 'pkcs8' });
  return createPublicKey(key).export({ format: 'der', type: 'spki' }).subarray(-SIZE).toString('base64');
}

export const wireguardFunctions: SpiffFunctionTable = { wggenkey: generate, wgpublickey: publicKey };
