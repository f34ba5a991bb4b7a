/** A client for a Docker registry (API version 2) with one set of credentials. */
import {
  parseManifest,
  mediaTypes,
  type Artifact,
  type ArtifactStore,
  type BlobRef,
  type NewArtifact,
} from './artifact.ts';
import type { Authorization } from './authorization.ts';
import { fingerprint } from './authorization.ts';
import type { ContentCache } from './cache.ts';
import { parseChallenge } from './challenge.ts';
import type { Credentials } from './credentials.ts';
import { isDigest, verifyDigest } from './digest.ts';
import { BlobMissing, ContentInvalid, ReferenceInvalid } from './errors.ts';
import { isRepositoryPath } from './image-reference.ts';
import { refusal, tooLarge, type LoginAttempt } from './refusals.ts';
import type { RegistryAnswer, RegistryRequest, Transport } from './transport.ts';
import { trimmedEnd } from '../lib/trim.ts';

export interface Limits {
  readonly maxManifestBytes: number;
  readonly maxBlobBytes: number;
}
export const defaultLimits: Limits = { maxManifestBytes: 4 * 2 ** 20, maxBlobBytes: 64 * 2 ** 20 };

/** Configuration key of `maxBlobBytes`. */
const BLOB_KEY = 'limits.downloadMiB';
const ACCEPTED = [mediaTypes.ociManifest, mediaTypes.dockerManifest, mediaTypes.ociIndex].join(', ');

interface RegistryPorts {
  readonly transport: Transport;
  readonly authorization: Authorization;
  readonly cache: ContentCache;
  readonly limits: Limits;
  /** Credentials of the operator at this moment, for registries without others. */
  readonly defaults: () => Credentials;
  /** For which namespace it is used. */
  readonly namespace?: string | undefined;
}

export class Registry implements ArtifactStore {
  readonly name: string;
  readonly #base: URL;
  readonly #mayUsePlainHttp: boolean;
  readonly #ports: RegistryPorts;
  readonly #own: Credentials;

  /** @throws RepositoryUnusable */
  constructor(address: string, credentials: Credentials, ports: RegistryPorts) {
    this.#base = ports.transport.urlOf(address);
    this.#mayUsePlainHttp = ports.transport.mayUsePlainHttp(address);
    this.name = `registry ${this.#base.host}`;
    this.#ports = ports;
    this.#own = credentials;
  }

  get #credentials(): Credentials {
    return this.#own.before(this.#ports.defaults());
  }

  /** Not cached: a user without read permission must not get what other users have fetched. */
  async artifact(repository: string, reference: string): Promise<Artifact | undefined> {
    const what = `${repository}${isDigest(reference) ? '@' : ':'}${reference}`;
    const maxBytes = this.#ports.limits.maxManifestBytes;
    const path = `${repository}/manifests/${reference}`;
    const headers = { accept: ACCEPTED };
    const { request, answer, login } = await this.#ask(
      { method: 'GET', path, headers, maxBytes, what },
      repository,
      'pull',
    );
    if (answer.status === 404) return undefined;
    if (answer.status !== 200) throw refusal(request, answer, login);
    const promised = isDigest(reference) ? reference : answer.header('docker-content-digest');
    if (promised !== undefined) verifyDigest(answer.body, promised, `the manifest of ${what}`);
    return parseManifest(answer.body, what);
  }

  blob(
    repository: string,
    { digest, size }: Pick<BlobRef, 'digest'> & { readonly size?: number },
  ): Promise<Uint8Array> {
    const { maxBlobBytes } = this.#ports.limits;
    const what = `blob ${digest} of ${repository}`;
    if (!isDigest(digest)) throw new ContentInvalid(`${what}: this is not a supported digest`);
    if (size !== undefined && size > maxBlobBytes) {
      throw tooLarge(what, this.#base, maxBlobBytes, BLOB_KEY);
    }
    // The cache key contains the credentials: knowing a digest does not permit reading the blob.
    const user = fingerprint(loginFor(this.#credentials, this.#base.host, repository));
    const load = async (): Promise<Uint8Array> => {
      const path = `${repository}/blobs/${digest}`;
      const { request, answer, login } = await this.#ask(
        { method: 'GET', path, maxBytes: maxBlobBytes, limitKey: BLOB_KEY, what },
        repository,
        'pull',
      );
      if (answer.status === 404)
        throw new BlobMissing(`${this.name} has no ${what}, although its manifest lists it`);
      if (answer.status !== 200) throw refusal(request, answer, login);
      verifyDigest(answer.body, digest, what);
      return answer.body;
    };
    const key = `${user} ${this.#base.host}/${repository}@${digest}`;
    return this.#ports.cache.get(key, load, this.#ports.namespace);
  }

  /** Stores an artifact under a tag; existing blobs are not uploaded again. */
  async push(repository: string, tag: string, artifact: NewArtifact): Promise<void> {
    for (const [digest, content] of artifact.blobs) await this.#pushBlob(repository, digest, content);
    const headers = { 'content-type': mediaTypes.ociManifest };
    const path = `${repository}/manifests/${tag}`;
    const body = artifact.manifest;
    await this.#expect(
      [201],
      { method: 'PUT', path, headers, body, maxBytes: 2 ** 20, what: `${repository}:${tag}` },
      repository,
    );
  }

  async #pushBlob(repository: string, digest: string, content: Uint8Array): Promise<void> {
    const common = { maxBytes: 2 ** 20, what: `blob ${digest} of ${repository}` };
    const there = await this.#ask(
      { ...common, method: 'HEAD', path: `${repository}/blobs/${digest}` },
      repository,
      'pull,push',
    );
    if (there.answer.status === 200) return;
    const started = await this.#expect(
      [202],
      { ...common, method: 'POST', path: `${repository}/blobs/uploads/` },
      repository,
    );
    const location = started.header('location');
    if (location === undefined || !URL.canParse(location, this.#base.href)) {
      throw new ContentInvalid(`${this.name} returned no upload location`);
    }
    const url = new URL(location, this.#base.href);
    url.searchParams.set('digest', digest);
    const headers = { 'content-type': 'application/octet-stream' };
    await this.#expect([201], { ...common, method: 'PUT', url, headers, body: content }, repository);
  }

  async #expect(statuses: readonly number[], request: Asked, repository: string): Promise<RegistryAnswer> {
    const { request: sent, answer, login } = await this.#ask(request, repository, 'pull,push');
    if (!statuses.includes(answer.status)) throw refusal(sent, answer, login);
    return answer;
  }

  /** Sends a request, and repeats it with credentials after a 401. */
  async #ask(asked: Asked, repository: string, actions: string) {
    if (!isRepositoryPath(repository)) {
      throw new ReferenceInvalid(
        `"${repository.slice(0, 300)}" cannot be the path of a repository in a registry`,
      );
    }
    const { transport, authorization, namespace } = this.#ports;
    const credentials = this.#credentials;
    const login = loginFor(credentials, this.#base.host, repository);
    const key = [this.#base.origin, repository, actions, fingerprint(login)].join(' ');
    const { path, url = this.#urlOf(path ?? ''), ...rest } = asked;
    const isOurs = this.#isOurs(url);
    const send = (header: string | undefined): Promise<RegistryAnswer> => {
      const headers = { ...rest.headers, ...(header !== undefined && isOurs && { authorization: header }) };
      const mayUsePlainHttp = this.#mayUsePlainHttp && isOurs;
      const { authorities } = login;
      const namedBy = this.#base;
      return transport.send({ ...rest, url, namedBy, headers, mayUsePlainHttp, authorities, namespace });
    };
    const request: RegistryRequest = { ...rest, url };
    const answer = await send(authorization.known(key));
    const challenge =
      answer.status === 401 && isOurs ? parseChallenge(answer.header('www-authenticate')) : undefined;
    if (!challenge) return { request, answer, login };
    const header = await authorization.answer(
      key,
      challenge,
      { ...login, registry: this.#base },
      `repository:${repository}:${actions}`,
    );
    return { request, answer: header === undefined ? answer : await send(header), login };
  }

  /** Credentials are not sent to other servers, nor over plain HTTP to a server that speaks TLS. */
  #isOurs({ origin, protocol, host }: URL): boolean {
    if (origin === this.#base.origin) return true;
    const isPlain = this.#mayUsePlainHttp && this.#ports.transport.isPlain(this.#base.host);
    return isPlain && protocol === 'http:' && host === this.#base.host;
  }

  #urlOf(path: string): URL {
    const url = new URL(this.#base);
    url.pathname = `${trimmedEnd(url.pathname, '/')}/v2/${path}`;
    return url;
  }
}

const loginFor = (credentials: Credentials, host: string, repository: string): LoginAttempt => ({
  used: credentials.for(host, repository),
  authorities: credentials.authorities(host, repository),
  problems: credentials.problems,
});

type Asked = Omit<RegistryRequest, 'url'> & { readonly path?: string; readonly url?: URL };
