/** bcrypt, for passwords in htpasswd files. */
import { bcryptHash } from '../../go/bcrypt.ts';
import type { Env, FunctionTable } from '../env.ts';
import { bytesOf } from '../../go/go-string.ts';
import { envFn } from '../signature.ts';
import { randomBytes } from './random.ts';

const COST = 10;
const MAX_PASSWORD_BYTES = 72;

function bcrypt(env: Env, password: string): string {
  const bytes = bytesOf(password);
  if (bytes.length > MAX_PASSWORD_BYTES) {
    return 'failed to encrypt string with bcrypt: bcrypt: password length exceeds 72 bytes';
  }
  env.charge(10_000);
  return bcryptHash(bytes, randomBytes(env, 16), COST);
}

export const bcryptFunctions: FunctionTable = {
  bcrypt: envFn('string', bcrypt),
  htpasswd: envFn('string string', (env: Env, user: string, password: string) =>
    user.includes(':') ? `invalid username: ${user}` : `${user}:${bcrypt(env, password)}`,
  ),
};
