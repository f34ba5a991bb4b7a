/** bcrypt. The cipher's tables are digits of pi, so they are computed, not listed. */
const ROUNDS = 16;
const BOX_WORDS = 1024;
const SUBKEYS = ROUNDS + 2;
const ALPHABET = './ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

/** The first words after the point of pi, by Machin's formula. */
function piWords(count: number): Uint32Array {
  const guard = 64n;
  const scale = BigInt(count * 32) + guard;
  const arctan = (n: bigint): bigint => {
    let term = (1n << scale) / n;
    let sum = term;
    for (let k = 3n; term !== 0n; k += 2n) {
      term /= -(n * n);
      sum += term / k;
    }
    return sum;
  };
  const pi = 4n * (4n * arctan(5n) - arctan(239n));
  const fraction = (pi - (3n << scale)) >> guard;
  const hex = fraction.toString(16).padStart(count * 8, '0');
  return Uint32Array.from({ length: count }, (_, i) => Number.parseInt(hex.slice(i * 8, i * 8 + 8), 16));
}

let initial: Uint32Array | undefined;

/** The cipher's state: the subkeys, then the four boxes. */
class Blowfish {
  readonly #state: Uint32Array;
  #left = 0;
  #right = 0;

  constructor() {
    initial ??= piWords(SUBKEYS + BOX_WORDS);
    this.#state = initial.slice();
  }

  /** Encrypts the two halves in place. */
  #encrypt(): void {
    const s = this.#state;
    let left = this.#left;
    let right = this.#right;
    for (let i = 0; i < ROUNDS; i += 2) {
      left ^= s[i] as number;
      right ^= this.#mix(left);
      right ^= s[i + 1] as number;
      left ^= this.#mix(right);
    }
    this.#left = right ^ (s[ROUNDS + 1] as number);
    this.#right = left ^ (s[ROUNDS] as number);
  }

  #mix(x: number): number {
    const s = this.#state;
    const a = (s[SUBKEYS + (x >>> 24)] as number) + (s[SUBKEYS + 256 + ((x >>> 16) & 255)] as number);
    return (
      ((a ^ (s[SUBKEYS + 512 + ((x >>> 8) & 255)] as number)) + (s[SUBKEYS + 768 + (x & 255)] as number)) | 0
    );
  }

  /** Mixes a key into the state, with a salt or without. */
  expand(key: Uint32Array, salt?: Uint32Array): void {
    const s = this.#state;
    for (let i = 0; i < SUBKEYS; i++) s[i] = (s[i] as number) ^ (key[i % key.length] as number);
    this.#left = 0;
    this.#right = 0;
    let at = 0;
    for (let i = 0; i < s.length; i += 2) {
      if (salt) {
        this.#left ^= salt[at] as number;
        this.#right ^= salt[at + 1] as number;
        at = (at + 2) % salt.length;
      }
      this.#encrypt();
      s[i] = this.#left;
      s[i + 1] = this.#right;
    }
  }

  encryptWords(words: Uint32Array): void {
    for (let i = 0; i < words.length; i += 2) {
      this.#left = words[i] as number;
      this.#right = words[i + 1] as number;
      this.#encrypt();
      words[i] = this.#left;
      words[i + 1] = this.#right;
    }
  }
}

/** Big-endian words of the bytes, repeated until there are `count`. */
const wordsOf = (bytes: Uint8Array, count: number): Uint32Array =>
  Uint32Array.from({ length: count }, (_, i) => {
    let word = 0;
    for (let k = 0; k < 4; k++) word = (word << 8) | (bytes[(i * 4 + k) % bytes.length] as number);
    return word;
  });

/** bcrypt's own base 64. */
function encode(bytes: Uint8Array): string {
  let binary = Array.from(bytes, (b) => b.toString(2).padStart(8, '0')).join('');
  binary = binary.padEnd(Math.ceil(binary.length / 6) * 6, '0');
  return (binary.match(/.{6}/g) ?? []).map((g) => ALPHABET.charAt(Number.parseInt(g, 2))).join('');
}

/**
 * @param password with its end marked here, not by the caller
 * @param salt 16 bytes
 * @param cost 4 to 31; each step doubles the time
 */
export function bcryptHash(password: Uint8Array, salt: Uint8Array, cost: number): string {
  const key = wordsOf(Buffer.concat([password, Buffer.of(0)]), SUBKEYS);
  const saltWords = wordsOf(salt, 4);
  const saltKey = wordsOf(salt, SUBKEYS);
  const cipher = new Blowfish();
  cipher.expand(key, saltWords);
  for (let i = 0; i < 2 ** cost; i++) {
    cipher.expand(key);
    cipher.expand(saltKey);
  }
  const text = wordsOf(Buffer.from('OrpheanBeholderScryDoubt'), 6);
  for (let i = 0; i < 64; i++) cipher.encryptWords(text);
  const out = Buffer.alloc(24);
  text.forEach((word, i) => out.writeUInt32BE(word >>> 0, i * 4));
  return `$2a$${String(cost).padStart(2, '0')}$${encode(salt)}${encode(out.subarray(0, 23))}`;
}

/** The salt in a hash; undefined for what is no bcrypt hash. */
export function bcryptParts(hash: string): { readonly salt: Buffer; readonly cost: number } | undefined {
  const match = /^\$2[abxy]?\$(\d\d)\$([./A-Za-z0-9]{22})[./A-Za-z0-9]{31}$/.exec(hash);
  if (!match) return undefined;
  const bits = Array.from(match[2] as string, (c) => ALPHABET.indexOf(c).toString(2).padStart(6, '0')).join(
    '',
  );
  const bytes = bits.slice(0, 128).match(/.{8}/g) ?? [];
  return { salt: Buffer.from(bytes.map((b) => Number.parseInt(b, 2))), cost: Number(match[1]) };
}
