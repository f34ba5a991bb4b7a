import { getEventListeners } from 'node:events';
import { expect } from 'chai';
import { Lanes, type Lane } from '../../../src/runtime/transport/lanes.ts';
import { settle } from '../../support/clock.ts';

describe('the lanes of a connection', () => {
  const enter = (lanes: Lanes, lane: Lane, entered: string[], signal?: AbortSignal) =>
    lanes.enter(lane, signal).then((leave) => {
      entered.push(lane);
      return leave;
    });

  it('admit the most urgent first when a place is free', async () => {
    const lanes = new Lanes(1);
    const entered: string[] = [];
    const leave = await enter(lanes, 'list', entered);
    const waiting = (['list', 'read', 'write', 'read'] as const).map((lane) => enter(lanes, lane, entered));
    leave();
    for (const next of [2, 1, 3, 0]) (await waiting[next]!)();
    expect(entered).to.deep.equal(['list', 'write', 'read', 'read', 'list']);
  });

  it('do not keep a place for an aborted request', async () => {
    const lanes = new Lanes(1);
    const entered: string[] = [];
    const leave = await enter(lanes, 'write', entered);
    const stop = new AbortController();
    const gone = enter(lanes, 'write', entered, stop.signal).catch(
      (error: unknown) => (error as Error).message,
    );
    const stays = enter(lanes, 'list', entered);
    stop.abort(new Error('enough'));
    expect(await gone).to.equal('enough');
    leave();
    (await stays)();
    (await enter(lanes, 'list', entered))();
    expect(entered).to.deep.equal(['write', 'list', 'list']);
    await settle();
  });

  it('do not admit a request whose signal has already aborted', async () => {
    const lanes = new Lanes(1);
    const gone = lanes.enter('read', AbortSignal.abort(new Error('late')));
    expect(await gone.catch((error: unknown) => (error as Error).message)).to.equal('late');
    (await lanes.enter('read'))();
  });

  it('do not listen to the signal of a request any longer than it waits', async () => {
    const lanes = new Lanes(1);
    const leave = await lanes.enter('write');
    const { signal } = new AbortController();
    const waiting = lanes.enter('write', signal);
    expect(getEventListeners(signal, 'abort')).to.have.length(1);
    leave();
    (await waiting)();
    expect(getEventListeners(signal, 'abort')).to.deep.equal([]);
  });

  it('keep the others waiting when a request is aborted that they have already admitted', async () => {
    const lanes = new Lanes(1);
    const entered: string[] = [];
    const leave = await enter(lanes, 'write', entered);
    const stop = new AbortController();
    const admitted = enter(lanes, 'write', entered, stop.signal);
    const stays = enter(lanes, 'write', entered);
    leave();
    const leaveAdmitted = await admitted;
    stop.abort(new Error('enough'));
    leaveAdmitted();
    (await stays)();
    expect(entered).to.have.length(3);
  });
});
