import { expect } from 'chai';
import { wait, type Decision } from '../../../src/machine/decision.ts';
import { decide, gatherOnce, phaseInSteps, stepOf, type Gatherers } from '../../../src/machine/phase.ts';

interface Snapshot {
  readonly self: string;
  readonly a: number;
  readonly b: number;
}

/** Facts that record when they are looked up. */
function facts() {
  const lookedUp: string[] = [];
  const noting = <T>(name: string, value: T): T => {
    lookedUp.push(name);
    return value;
  };
  const gatherers: Gatherers<Snapshot> = {
    self: () => noting('self', 'web'),
    a: () => Promise.resolve(noting('a', 1)),
    b: async (get) => noting('b', 1 + (await get('a'))),
  };
  return { lookedUp, get: gatherOnce(gatherers) };
}

describe('a fact for a phase', () => {
  it('is looked up once, also if other facts need it, and not before it is needed', async () => {
    const { lookedUp, get } = facts();
    expect(lookedUp).to.deep.equal([]);
    expect(await Promise.all([get('b'), get('a'), get('b')])).to.deep.equal([2, 1, 2]);
    expect(lookedUp).to.have.members(['a', 'b']).and.to.have.length(2);
  });

  it('is not looked up for a step that is not reached', async () => {
    const { lookedUp, get } = facts();
    const step = stepOf<Snapshot>();
    const answer = (name: string): Decision<never> => wait({ operation: 'o', reason: name, message: '' });
    const seen: object[] = [];
    const phase = phaseInSteps<Snapshot>()(
      [],
      step(['a'], (snapshot) => {
        seen.push({ ...snapshot });
        return undefined;
      }),
      step(['a'], ({ a, self }) => (a === 1 && self === 'web' ? answer('second') : undefined)),
      step(['b'], () => answer('third')),
    );
    expect(await decide(phase, get, ['self'])).to.have.nested.property('why.reason', 'second');
    expect(seen).to.deep.equal([{ self: 'web', a: 1 }]);
    expect(lookedUp).to.deep.equal(['self', 'a']);
  });

  it('has to be enough for the last step of a phase', async () => {
    const phase = phaseInSteps<Snapshot>()(
      [],
      stepOf<Snapshot>()([], () => undefined),
    );
    const error = await decide(phase, facts().get, []).catch((thrown: unknown) => thrown);
    expect(error).to.be.instanceOf(TypeError).with.property('message').that.contains('must decide');
  });
});
