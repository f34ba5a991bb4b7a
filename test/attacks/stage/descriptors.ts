/** A registry of an attacker: it has every requested component, with a descriptor that is created for each request. */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

const LAYER = 'application/vnd.ocm.software.component-descriptor.v2+yaml';
const MANIFEST = 'application/vnd.oci.image.manifest.v1+json';
const CONFIG = Buffer.from('{}');

export interface DescriptorServer {
  /** `host:port` */
  readonly address: string;
  /** Descriptors that were fetched. */
  readonly fetched: () => number;
  close(): Promise<void>;
}

/** @param describe the descriptor of a component, as YAML */
export async function serveDescriptors(
  describe: (name: string, version: string) => string,
): Promise<DescriptorServer> {
  /** Written again for each request: many large ones would fill the memory of the test. */
  const blobs = new Map<string, () => Buffer>([[digestOf(CONFIG), () => CONFIG]]);
  let fetched = 0;
  const manifest = (name: string, version: string): Buffer => {
    const write = (): Buffer => Buffer.from(describe(name, version));
    const layer = write();
    blobs.set(digestOf(layer), write);
    const config = { mediaType: 'application/json', digest: digestOf(CONFIG), size: CONFIG.length };
    const layers = [{ mediaType: LAYER, digest: digestOf(layer), size: layer.length }];
    return Buffer.from(JSON.stringify({ schemaVersion: 2, mediaType: MANIFEST, config, layers }));
  };
  const server = createServer((request, response) => {
    request.resume();
    response.on('error', () => undefined);
    const [, name = '', kind = '', reference = ''] =
      /^\/v2\/component-descriptors\/(.+)\/(manifests|blobs)\/([^?]+)/.exec(request.url ?? '') ?? [];
    if (kind === 'manifests') {
      response.setHeader('content-type', MANIFEST);
      response.end(manifest(name, reference));
      return;
    }
    const blob = blobs.get(reference);
    if (blob && blob() !== CONFIG) fetched++;
    if (blob) response.end(blob());
    else response.writeHead(404).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    address: `127.0.0.1:${String((server.address() as AddressInfo).port)}`,
    fetched: () => fetched,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const digestOf = (bytes: Buffer): string => `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
