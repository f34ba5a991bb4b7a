/** bcrypt, for passwords in htpasswd files. */
import { BcryptError, bcryptHash } from '../../go/bcrypt.ts';
import type { Env, FunctionTable } from '../env.ts';
import { envFn } from '../signature.ts';
import { randomBytes } from './random.ts';

function bcrypt(env: Env, password: string): string {
  env.charge(10_000);
  try {
    return bcryptHash(password, randomBytes(env, 16));
  } catch (error) {
    if (!(error instanceof BcryptError)) throw error;
    return `failed to encrypt string with bcrypt: ${error.message}`;
  }
}

export const bcryptFunctions: FunctionTable = {
  bcrypt: envFn('string', bcrypt),
  htpasswd: envFn('string string', (env: Env, user: string, password: string) =>
    user.includes(':') ? `invalid username: ${user}` : `${user}:${bcrypt(env, password)}`,
  ),
};
