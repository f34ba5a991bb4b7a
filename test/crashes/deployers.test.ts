/** The helm deployer is killed at every write of jobs that create releases; the result is the same as without a crash. */
import { expect } from 'chai';
import { c1, NO_HELM, raw, realHelm } from '../support/helm-charts.ts';
import { skip } from '../support/skip.ts';
import { helmConfig } from '../unit/deployers/bench.ts';
import { World } from '../scenario/deployers/world.ts';

/** More writes than any of these jobs has. */
const ENOUGH = 12;

for (const usesProgram of [false, true])
  describe(`the helm deployer, killed while it creates releases${usesProgram ? ' with the helm program' : ''},`, () => {
    let world: World;
    before(async function () {
      this.timeout(60_000);
      const program = usesProgram ? realHelm() : undefined;
      if (usesProgram && program === undefined) skip(this, NO_HELM);
      world = await World.start(program);
    });
    after(() => world?.stop());

    const config = (name: string, msg: string): object =>
      helmConfig({
        helmDeployment: true,
        name,
        ...raw(c1()),
        values: { msg },
        exports: { exports: [{ key: 'k', jsonPath: '.Values.msg' }] },
      });
    /** State of each revision, and the objects of the release. */
    async function picture(name: string): Promise<object> {
      const states: string[] = [];
      for (let n = 1; n < 5; n++) {
        const key = `app/sh.helm.release.v1.${name}.v${String(n)}`;
        const record = await world.find(world.target, 'v1', 'Secret', key);
        if (record) states.push(`v${String(n)} ${record.metadata.labels?.['status'] ?? ''}`);
      }
      const made = await world.configMap(`app/${name}-cm`);
      const item = await world.find(
        world.host,
        'landscaper.gardener.cloud/v1alpha1',
        'DeployItem',
        `proj/${name}`,
      );
      return {
        states,
        data: made?.['data'] as unknown,
        phase: (item?.['status'] as { phase?: string } | undefined)?.phase,
      };
    }
    const isThrough = async (name: string, job: string): Promise<boolean> => {
      const api = 'landscaper.gardener.cloud/v1alpha1';
      const item = await world.find(world.host, api, 'DeployItem', `proj/${name}`);
      return !item || (item['status'] as { jobIDFinished?: string } | undefined)?.jobIDFinished === job;
    };

    const jobs: readonly { title: string; job: string; begin(name: string): Promise<void>; end: object }[] = [
      {
        title: 'installs a release',
        job: 'j1',
        begin: () => Promise.resolve(),
        end: { states: ['v1 deployed'], data: { msg: 'yo' }, phase: 'Succeeded' },
      },
      {
        title: 'upgrades a release',
        job: 'j2',
        async begin(name) {
          await world.run(name, 'j1');
          await world.configure(name, config(name, 'hey'));
        },
        end: { states: ['v1 superseded', 'v2 deployed'], data: { msg: 'hey' }, phase: 'Succeeded' },
      },
      {
        title: 'uninstalls a release',
        job: 'j2',
        async begin(name) {
          await world.run(name, 'j1');
          await world.remove(name);
        },
        end: { states: [], data: undefined, phase: undefined },
      },
    ];
    for (const [i, { title, job, begin, end }] of jobs.entries()) {
      it(`${title} nevertheless`, async function () {
        this.timeout(300_000);
        const killed: string[] = [];
        for (const what of ['crash-before', 'crash-after'] as const) {
          for (let nth = 1; nth < ENOUGH; nth++) {
            const name = `k${String(i)}-${what.slice(6)}-${String(nth)}`;
            await world.giveItem(name, 'helm', config(name, 'yo'));
            await begin(name);
            const { faults } = world;
            faults.arm('proj', { what, nth });
            await world.kick(name, job);
            await world.until(`${name} is killed or through`, async () => {
              return faults.isDead('proj') || (await isThrough(name, job)) || undefined;
            });
            await world.restart();
            await world.until(`${name} is through`, async () => (await isThrough(name, job)) || undefined);
            expect(await picture(name), `${what} write ${String(nth)}`).to.deep.equal(end);
            if (!faults.isDead('proj')) break;
            killed.push(name);
          }
        }
        expect(killed.length, killed.join()).to.be.within(4, 2 * ENOUGH - 4);
      });
    }
  });
