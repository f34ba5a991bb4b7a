/** What unfinished and large requests take from a server. */
import { expect } from 'chai';
import { EventEmitter } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { BodyRefused, RequestBodies } from '../../../src/lib/request-bodies.ts';
import { outcome } from '../../support/outcome.ts';

/** A request whose bytes arrive when the test says so. */
function sending(bodies: RequestBodies, remoteAddress: string, headers: Record<string, string> = {}) {
  let isDestroyed = false;
  const request = Object.assign(new EventEmitter(), {
    headers,
    socket: { remoteAddress },
    destroy: () => {
      isDestroyed = true;
    },
  });
  const response = new EventEmitter();
  const body = bodies.read({
    request: request as unknown as IncomingMessage,
    response: response as unknown as ServerResponse,
  });
  body.catch(() => undefined);
  return {
    body,
    response,
    send: (bytes: number) => request.emit('data', Buffer.alloc(bytes)),
    end: () => request.emit('end'),
    fail: (error: Error) => request.emit('error', error),
    isDestroyed: () => isDestroyed,
  };
}

type Sending = ReturnType<typeof sending>;

describe('the bodies of the requests of a server', () => {
  const bodies = (): RequestBodies => new RequestBodies(100, 250);

  it('count until the response has been sent', async () => {
    const all = bodies();
    const one = sending(all, 'a');
    one.send(40);
    one.send(20);
    one.end();
    expect(await one.body).to.have.length(60);
    expect(all.bytes).to.equal(60);
    one.response.emit('close');
    expect(all.bytes).to.equal(0);
  });

  it('are refused one by one beyond the limit of a body, stated or sent', async () => {
    const all = bodies();
    const stated = sending(all, 'a', { 'content-length': '101' });
    expect(await outcome(stated.body)).to.throw(BodyRefused, 'a body can have 100 bytes');
    const sent = sending(all, 'a');
    sent.send(101);
    expect(await outcome(sent.body))
      .to.throw(BodyRefused)
      .with.property('statusCode', 413);
    expect(all.bytes).to.equal(0);
    expect(sent.isDestroyed()).to.equal(false);
    sent.response.emit('finish');
    expect(sent.isDestroyed()).to.equal(true);
  });

  it('of the client with most bytes give way to those of others, the largest first', async () => {
    const all = bodies();
    const flood = [80, 90, 70].map((bytes) => {
      const one = sending(all, 'flood');
      one.send(bytes);
      return one;
    });
    const other = sending(all, 'other');
    other.send(60);
    const [, largest] = flood as [Sending, Sending, Sending];
    expect(await outcome(largest.body))
      .to.throw(BodyRefused, 'the requests of all clients have more than 250 bytes together; try again')
      .with.property('statusCode', 503);
    expect(all.bytes).to.equal(210);
    other.end();
    expect(await other.body).to.have.length(60);
  });

  it('are refused when all others are complete, because these are being answered', async () => {
    const all = bodies();
    for (const client of ['a', 'b', 'c']) {
      const one = sending(all, client);
      one.send(80);
      one.end();
      await one.body;
    }
    const last = sending(all, 'd');
    last.send(20);
    expect(await outcome(last.body))
      .to.throw(BodyRefused)
      .with.property('statusCode', 503);
    expect(all.bytes).to.equal(240);
  });

  it('are forgotten when a client breaks off, before and after its error', async () => {
    const all = bodies();
    const broken = sending(all, 'a');
    broken.send(50);
    broken.fail(new Error('reset'));
    expect(await outcome(broken.body)).to.throw(Error, 'reset');
    const gone = sending(all, 'a');
    gone.send(50);
    gone.response.emit('close');
    expect(all.bytes).to.equal(0);
    gone.send(50);
    expect(all.bytes).to.equal(0);
  });
});
