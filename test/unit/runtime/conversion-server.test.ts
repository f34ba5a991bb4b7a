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
  before(async () => {
    const authority = createAuthority('test');
    const { key, certificate } = issueCertificate(authority, createPrivateKey(authority.key), {
      commonName: 'conversions',
      hosts: ['127.0.0.1'],
      usage: 'server',
    });
    ca = authority.certificate;
    server = await startConversionServer({
      host: '127.0.0.1',
      port: 0,
      identity: { key, certificate },
      conversions,
      log,
    });
  });
  after(() => server.close());

  const options = (localAddress: string, length: number): RequestOptions => ({
    host: '127.0.0.1',
    port: server.port,
    path: PATH,
    method: 'POST',
    ca,
    agent: false,
    localAddress,
    headers: { 'content-length': length },
  });
  /** Announces a body and does not send it. @returns a function that ends the connection */
  const announce = async (from: string, bytes: number): Promise<() => void> => {
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

  it('answers others while a client announces requests of 128 MiB that it does not send', async () => {
    const ends = await Promise.all(Array.from({ length: 8 }, () => announce('127.0.0.2', 128 * MIB)));
    const { status, text } = await send('127.0.0.1', review);
    expect(status).to.equal(200);
    expect(text).to.contain('"apiVersion":"example.org/v2"');
    for (const end of ends) end();
    // What the client had reserved is free again.
    expect((await send('127.0.0.2', review)).status).to.equal(200);
  });

  it('lets one client announce only as much as half of the limit', async () => {
    const end = await announce('127.0.0.2', 128 * MIB);
    await send('127.0.0.1', review);
    const second = send('127.0.0.2', review);
    const first = await Promise.race([
      second.then(() => 'answered'),
      send('127.0.0.1', review).then(() => 'waits'),
    ]);
    expect(first).to.equal('waits');
    end();
    expect((await second).status).to.equal(200);
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
