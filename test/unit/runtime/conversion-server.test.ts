/** The server for conversions beside clients that announce large requests. */
import { createPrivateKey } from 'node:crypto';
import { once } from 'node:events';
import { request, type RequestOptions } from 'node:https';
import type { TLSSocket } from 'node:tls';
import { expect } from 'chai';
import { createAuthority, issueCertificate } from '../../../src/lib/certificates.ts';
import { silentLogger as log } from '../../../src/observability/log.ts';
import { startConversionServer } from '../../../src/runtime/conversion/server.ts';
import type { Obj } from '../../../src/runtime/types.ts';

const MIB = 2 ** 20;
const PATH = '/convert/widgets.example.org';
const conversions = new Map([
  [PATH, { convert: (object: object, apiVersion: string): Obj => ({ ...(object as Obj), apiVersion }) }],
]);
const review = JSON.stringify({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'ConversionReview',
  request: {
    uid: '1',
    desiredAPIVersion: 'example.org/v2',
    objects: [{ apiVersion: 'example.org/v1', kind: 'Widget', metadata: { name: 'a' } }],
  },
});

describe('the server for conversions', () => {
  let server: Awaited<ReturnType<typeof startConversionServer>>;
  let ca: string;
  let identity: { readonly key: string; readonly certificate: string };
  before(async () => {
    const authority = createAuthority('test');
    const { key, certificate } = issueCertificate(authority, createPrivateKey(authority.key), {
      commonName: 'conversions',
      hosts: ['127.0.0.1'],
      usage: 'server',
    });
    ca = authority.certificate;
    identity = { key, certificate };
    server = await startConversionServer({
      host: '127.0.0.1',
      port: 0,
      identity,
      conversions,
      log,
    });
  });
  after(() => server.close());

  it('reports a port that another program uses', async () => {
    const { port } = server;
    const started = startConversionServer({ host: '127.0.0.1', port, identity, conversions, log });
    const problem = await started.then(
      () => undefined,
      (error: unknown) => error,
    );
    expect(problem)
      .to.have.property('message')
      .that.contains(`:${String(port)}: the port is in use`);
  });

  const options = (localAddress: string, length: number | undefined): RequestOptions => ({
    host: '127.0.0.1',
    port: server.port,
    path: PATH,
    method: 'POST',
    ca,
    agent: false,
    localAddress,
    headers: length === undefined ? { 'transfer-encoding': 'chunked' } : { 'content-length': length },
  });
  /** Announces a body and does not send it. @returns a function that ends the connection */
  const announce = async (from: string, bytes: number | undefined): Promise<() => void> => {
    const open = request(options(from, bytes));
    open.on('error', () => undefined);
    open.flushHeaders();
    const [socket] = (await once(open, 'socket')) as [TLSSocket];
    await once(socket, 'secureConnect');
    return () => void open.destroy();
  };
  const send = (from: string, body: string): Promise<{ status: number; text: string }> =>
    new Promise((resolve, reject) => {
      const sent = request(options(from, Buffer.byteLength(body)), (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (part: string) => (text += part));
        response.on('end', () => {
          resolve({ status: response.statusCode ?? 0, text });
        });
      });
      sent.on('error', reject);
      sent.end(body);
    });

  // The bytes of a body count when they arrive, not when a client announces them.
  for (const [what, length] of [
    ['of 128 MiB', 128 * MIB],
    ['of an unknown size', undefined],
  ] as const)
    it(`answers others while three clients announce requests ${what} that they do not send`, async () => {
      const clients = ['127.0.0.2', '127.0.0.3', '127.0.0.4', '127.0.0.2'];
      const ends = await Promise.all(clients.map((client) => announce(client, length)));
      const { status, text } = await send('127.0.0.1', review);
      expect(status).to.equal(200);
      expect(text).to.contain('"apiVersion":"example.org/v2"');
      for (const end of ends) end();
    });

  it('refuses a larger request before its body arrives', async () => {
    const status = await new Promise((resolve, reject) => {
      const sent = request(options('127.0.0.1', 128 * MIB + 1), (response) => {
        resolve(response.statusCode);
        sent.destroy();
      });
      sent.on('error', reject);
      sent.flushHeaders();
    });
    expect(status).to.equal(413);
  });
});
