/** Stories about a write that the server executes after its sender has timed out and continued without it. */
import { expect } from 'chai';
import { isFinished } from '../../../src/api/job.ts';
import { Conflict, TransportError } from '../../../src/runtime/errors.ts';
import type { Client, Write } from '../../../src/runtime/types.ts';
import { Scene, item, node } from './scene.ts';
import { story } from './story.ts';

/** Holds back the first write that matches; its sender gets a timeout. */
function belated(matches: (write: Write) => boolean) {
  let arrive: (() => Promise<unknown>) | undefined;
  const wrapClient = (client: Client): Client => ({
    ...client,
    send: (write, signal) => {
      if (arrive || !matches(write)) return client.send(write, signal);
      arrive = () => client.send(write);
      return Promise.reject(
        new TransportError({
          message: 'lost the connection while waiting for the answer',
          safeToRepeat: false,
        }),
      );
    },
  });
  return {
    wrapClient,
    isHeld: () => arrive !== undefined,
    arrive: (): Promise<unknown> => arrive?.() ?? Promise.reject(new Error('nothing was held back')),
  };
}

/** The write that hands the job to an item of a template. */
const givesJob = (template: string, nth: number): ((write: Write) => boolean) => {
  let count = 0;
  return (write) => {
    const isIt =
      write.verb === 'merge' &&
      write.kind.kind === 'DeployItem' &&
      write.sub === 'status' &&
      write.key.includes(`-${template}-`) &&
      'jobIDGenerationTime' in ((write.body as { status?: object }).status ?? {});
    return isIt && ++count === nth;
  };
};

describe('a job that reaches an item by a late write', function () {
  this.timeout(60_000);

  const isOver = (scene: Scene) => (): boolean => {
    const root = scene.inst('r1');
    return root !== undefined && isFinished(root) && scene.items().some((i) => i.status?.jobID !== undefined);
  };
  /** Lets the write arrive, and everything it triggers. */
  const refusal = async (scene: Scene, late: ReturnType<typeof belated>): Promise<unknown> => {
    let answer: unknown;
    late.arrive().then(
      (object) => (answer = object),
      (error: unknown) => (answer = error),
    );
    await scene.until('the late write is answered', () => answer !== undefined);
    await scene.simulation.for(30_000);
    return answer;
  };

  story('starts nothing after the execution has failed without it', async (seed) => {
    const late = belated(givesJob('i2', 1));
    const scene = new Scene(seed, [node('r1', { items: [item('i1', { behaviour: 'fails' }), item('i2')] })], {
      wrapClient: late.wrapClient,
      isLagging: false,
    });
    await scene.begin();
    await scene.until('the job has failed', isOver(scene));
    expect(late.isHeld()).to.equal(true);
    const before = scene.items('i2').map(({ status }) => status);
    expect(await refusal(scene, late)).to.be.instanceOf(Conflict);
    expect(scene.items('i2').map(({ status }) => status)).to.deep.equal(before);
    expect(scene.phase('r1')).to.equal('Failed');
  });

  story('starts nothing after the deletion of the execution has failed without it', async (seed) => {
    const late = belated(givesJob('i2', 2));
    const scene = new Scene(
      seed,
      [
        node('r1', {
          items: [item('i1', { behaviour: 'cannot-go' }), item('i2', { behaviour: 'cannot-go' })],
        }),
      ],
      { wrapClient: late.wrapClient, isLagging: false },
    );
    await scene.begin();
    await scene.until('it is installed', isOver(scene));
    scene.user.deleteRoot(scene.root('r1'));
    await scene.until('the deletion has failed', () => scene.phase('r1') === 'DeleteFailed');
    expect(late.isHeld()).to.equal(true);
    expect(await refusal(scene, late)).to.be.instanceOf(Conflict);
    expect(scene.phase('r1')).to.equal('DeleteFailed');
  });
});
