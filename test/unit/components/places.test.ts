import { expect } from 'chai';
import { Places } from '../../../src/components/places.ts';

const ORIGIN = 'https://registry.invalid';
const never = new AbortController().signal;

describe('the connections to a registry', () => {
  it('are not all taken by one namespace', async () => {
    const places = new Places(4);
    const begun: string[] = [];
    const ask = (namespace: string) =>
      places.take(ORIGIN, namespace, never).then((place) => {
        begun.push(namespace);
        return place;
      });
    const ofA = Array.from({ length: 10 }, () => ask('a'));
    await ask('b');
    expect(begun).to.deep.equal(['a', 'a', 'b']);
    (await ofA[0])?.release();
    await ofA[2];
    expect(begun).to.deep.equal(['a', 'a', 'b', 'a']);
  });

  it('are forgotten when they are not used, as tenants name any number of registries', async () => {
    const places = new Places(4);
    const [one, other] = [await places.take(ORIGIN, 'a', never), await places.take(ORIGIN, 'b', never)];
    one.release();
    expect(places.size).to.equal(1);
    other.release();
    expect(places.size).to.equal(0);
  });

  it('are not waited for longer than the request may take', async () => {
    const places = new Places(2);
    await places.take(ORIGIN, 'a', never);
    const ending = new AbortController();
    const waiting = places.take(ORIGIN, 'a', ending.signal).catch(String);
    ending.abort('too late');
    expect(await waiting).to.equal('too late');
  });
});
