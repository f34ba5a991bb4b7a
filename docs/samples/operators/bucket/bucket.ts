/** An operator of storage buckets: a Bucket in the cluster represents one in a service with an HTTP API. */
import {
  byUid,
  externalController,
  OutcomeUnknown,
  specSecret,
  type Connector,
  type ExternalHandler,
  type ExternalObject,
  type ExternalPorts,
  type ExternalState,
} from 'espalier/external';
import { NoRetryError, type Kind } from 'espalier/runtime';

export interface Bucket extends ExternalObject {
  spec: { quotaGiB: number; region?: string };
}

export const bucketKind: Kind<Bucket> = {
  group: 'storage.example.org',
  version: 'v1',
  kind: 'Bucket',
  plural: 'buckets',
  namespaced: true,
};

/** The response of the service. */
interface Remote {
  readonly state: ExternalState;
  readonly quotaGiB: number;
  readonly region: string;
  readonly endpoint: string;
  readonly secretKey: string;
}

export interface Service {
  readonly url: string;
  readonly token: string;
}

class BucketHandler implements ExternalHandler<Bucket> {
  readonly #service: Service;
  readonly #signal: AbortSignal;

  constructor(service: Service, signal: AbortSignal) {
    this.#service = service;
    this.#signal = signal;
  }

  async observe(bucket: Bucket, name: string) {
    const answer = await this.#ask('GET', name);
    if (answer.status === 404) return { exists: false, upToDate: false, state: 'unknown' } as const;
    const { state, quotaGiB, region, endpoint, secretKey } = (await answer.json()) as Remote;
    const isOpen = bucket.spec.region === undefined;
    if (isOpen) bucket.spec.region = region;
    return {
      exists: true,
      state,
      upToDate: quotaGiB === bucket.spec.quotaGiB,
      message: `the quota is ${quotaGiB} GiB`,
      attributes: { region, quotaGiB },
      connectionDetails: { endpoint, secretKey },
      lateInitialized: isOpen,
    };
  }

  async create({ spec: { quotaGiB, region } }: Bucket, name: string) {
    await this.#ask('PUT', name, { quotaGiB, region });
    return {};
  }

  async update({ spec: { quotaGiB } }: Bucket, name: string) {
    await this.#ask('PATCH', name, { quotaGiB });
    return {};
  }

  async delete(_: Bucket, name: string) {
    await this.#ask('DELETE', name);
  }

  /** 404 is a valid response to GET and DELETE; permanent errors of the service are not retried. */
  async #ask(method: string, name: string, body?: object): Promise<Response> {
    const { url, token } = this.#service;
    const headers = { authorization: `Bearer ${token}` };
    const content = body ? JSON.stringify(body) : null;
    let answer: Response;
    try {
      answer = await fetch(`${url}/buckets/${name}`, {
        method,
        headers,
        body: content,
        signal: this.#signal,
      });
    } catch (error) {
      throw new OutcomeUnknown({ message: `the service did not answer to ${method}`, cause: error });
    }
    if (answer.ok || (answer.status === 404 && body === undefined)) return answer;
    const message = `${method} of bucket ${name} was answered with ${answer.status}`;
    throw answer.status === 422 ? new NoRetryError({ message }) : new Error(message);
  }
}

const connector = (service: Service): Connector<Bucket> => ({
  connect: (_, signal) => Promise.resolve(new BucketHandler(service, signal)),
});

/** Returns the controller for `Manager.add`. */
export const bucketController = (service: Service, ports: ExternalPorts) =>
  externalController<Bucket>(
    {
      name: 'buckets',
      kind: bucketKind,
      connector: connector(service),
      names: byUid('bucket'),
      secretOf: specSecret,
    },
    ports,
  );
