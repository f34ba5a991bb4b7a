/** The persistent identity of a server: its certificate authority, its token key, and the administrator's token. */
import { createPrivateKey, generateKeyPairSync, randomBytes } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createAuthority, issueCertificate } from '../../lib/certificates.ts';
import type { Authority, KeyAndCertificate } from '../../lib/certificates.ts';

interface Kept {
  readonly authority: Authority;
  readonly adminToken: string;
  /** PKCS#8, PEM; created when the first token is signed. */
  readonly tokenKey?: string;
}

export class Identity {
  #kept: Kept;
  readonly #file: string | undefined;

  /** @param dir folder that stores the identity; absent: not stored */
  constructor(dir?: string) {
    this.#file = dir === undefined ? undefined : join(dir, 'identity.json');
    if (this.#file !== undefined && existsSync(this.#file)) {
      this.#kept = JSON.parse(readFileSync(this.#file, 'utf8')) as Kept;
      return;
    }
    this.#kept = {
      authority: createAuthority('espalier-ca'),
      adminToken: randomBytes(24).toString('base64url'),
    };
    this.#save();
  }

  get adminToken(): string {
    return this.#kept.adminToken;
  }

  /** PEM. */
  get ca(): string {
    return this.#kept.authority.certificate;
  }

  tokenKey(): KeyObject {
    if (this.#kept.tokenKey === undefined) {
      const key = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
      this.#kept = { ...this.#kept, tokenKey: key.export({ type: 'pkcs8', format: 'pem' }) as string };
      this.#save();
    }
    return createPrivateKey(this.#kept.tokenKey ?? '');
  }

  serverCertificate(host: string): KeyAndCertificate {
    const names = [
      'localhost',
      '127.0.0.1',
      '::1',
      'kubernetes',
      'kubernetes.default',
      'kubernetes.default.svc',
      '10.0.0.1',
    ];
    const hosts = names.includes(host) ? names : [...names, host];
    return this.#issue({ commonName: 'kube-apiserver', usage: 'server', hosts });
  }

  clientCertificate(user: {
    readonly username: string;
    readonly groups: readonly string[];
  }): KeyAndCertificate {
    return this.#issue({ commonName: user.username, organizations: user.groups, usage: 'client' });
  }

  #issue(leaf: Parameters<typeof issueCertificate>[2]): KeyAndCertificate {
    const { authority } = this.#kept;
    return issueCertificate(authority, createPrivateKey(authority.key), leaf);
  }

  #save(): void {
    if (this.#file !== undefined) writeFileSync(this.#file, JSON.stringify(this.#kept), { mode: 0o600 });
  }
}
