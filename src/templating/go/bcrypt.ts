/** bcrypt like Go's golang.org/x/crypto, with its errors, but limited in time. */
import { encodeBase64, hashSync } from 'bcryptjs';
import { byteLength, isValidText } from './go-string.ts';

const MIN_COST = 4;
const MAX_COST = 31;
const DEFAULT_COST = 10;
/** Each step doubles the time; this one takes some seconds. The original would take hours for the largest. */
const LARGEST_COST = 14;
const MAX_PASSWORD_BYTES = 72;

export class BcryptError extends Error {
  override readonly name = 'BcryptError';
}

/**
 * @param salt 16 bytes
 * @param cost a cost below 4 counts as 10
 * @throws BcryptError
 */
export function bcryptHash(password: string, salt: Uint8Array, cost: bigint | number = DEFAULT_COST): string {
  if (byteLength(password) > MAX_PASSWORD_BYTES) {
    throw new BcryptError(`bcrypt: password length exceeds ${String(MAX_PASSWORD_BYTES)} bytes`);
  }
  if (cost > MAX_COST) {
    throw new BcryptError(`crypto/bcrypt: cost ${String(cost)} is outside allowed inclusive range 4..31`);
  }
  const used = cost < MIN_COST ? DEFAULT_COST : Number(cost);
  return hash(password, encodeBase64(salt, salt.length), used);
}

const HASH = /^\$2[abxy]?\$(\d\d)\$([./A-Za-z0-9]{22})([./A-Za-z0-9]{31})$/;

/** Whether the hash belongs to the password, of which 72 bytes count. @throws BcryptError */
export function bcryptMatches(password: string, known: string): boolean {
  const [, cost = '', salt = '', digest = ''] = HASH.exec(known) ?? [];
  const isHash = digest !== '' && Number(cost) >= MIN_COST && Number(cost) <= MAX_COST;
  return isHash && hash(password, salt, Number(cost)).endsWith(digest);
}

function hash(password: string, salt: string, cost: number): string {
  if (cost > LARGEST_COST) throw new BcryptError(`a cost over ${String(LARGEST_COST)} takes too long`);
  // Go hashes bytes, the library only strings.
  if (!isValidText(password)) throw new BcryptError('the password is not valid UTF-8');
  return hashSync(password, `$2a$${String(cost).padStart(2, '0')}$${salt}`);
}
