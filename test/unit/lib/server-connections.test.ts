import { once } from 'node:events';
import { Agent, createServer, get, type Server } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { expect } from 'chai';
import { systemClock } from '../../../src/lib/clock.ts';
import { ServerConnections } from '../../../src/lib/server-connections.ts';
import { pause } from '../../support/waiting.ts';

describe('the connections of a server that ends', function () {
  this.timeout(10_000);
  let server: Server;
  let connections: ServerConnections;
  let respond: () => void;
  const port = (): number => (server.address() as AddressInfo).port;

  beforeEach(async () => {
    server = createServer((_, response) => {
      respond = () => response.end('done');
      if (_.url === '/now') respond();
    });
    connections = new ServerConnections(server);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  });

  const close = (patienceMs: number): Promise<unknown> => {
    const closed = new Promise((resolve) => server.close(resolve));
    return Promise.all([closed, connections.close(systemClock, patienceMs)]);
  };

  it('are closed if they have never sent a request', async () => {
    const socket = connect(port(), '127.0.0.1');
    socket.resume().on('error', () => undefined);
    await once(socket, 'connect');
    await pause(20);
    const ended = once(socket, 'close');
    await close(60_000);
    await ended;
  });

  it('are closed if they wait for the next request', async () => {
    const agent = new Agent({ keepAlive: true });
    const [response] = (await once(get({ port: port(), path: '/now', agent }), 'response')) as [
      NodeJS.ReadableStream,
    ];
    response.resume();
    await once(response, 'end');
    await close(60_000);
    agent.destroy();
  });

  it('remain until the response is sent', async () => {
    const request = get({ port: port(), path: '/later' });
    await once(server, 'request');
    const closed = close(60_000);
    void pause(50).then(respond);
    const [response] = (await once(request, 'response')) as [AsyncIterable<Buffer>];
    let text = '';
    for await (const part of response) text += String(part);
    expect(text).to.equal('done');
    await closed;
  });

  it('are closed without a response after some time', async () => {
    const request = get({ port: port(), path: '/never' });
    const failed = once(request, 'error');
    await once(server, 'request');
    await close(50);
    await failed;
  });
});
