/** Clients in Go: scenario API-186. */
import { expect } from 'chai';
import { goClients } from '../../hack/go-clients/programs.ts';
import { findGoModule } from '../../hack/go/module.ts';
import { cm } from '../conformance/apiserver/fixtures.ts';
import { useSubject, type Json } from '../conformance/apiserver/subject.ts';
import { leftOut } from '../support/skip.ts';
import { KubeconfigFile, Program } from './program.ts';

const path = findGoModule(goClients);

if (path === undefined)
  leftOut('API-186: clients in Go', 'clients in Go are not built; make test-clients does');
else
  describe('API-186: clients in Go', function () {
    this.timeout(180_000);
    const s = useSubject();
    let config: KubeconfigFile;
    let ns: string;
    let cms: string;
    let running: Program[];

    before(() => {
      config = new KubeconfigFile(s);
    });
    after(() => {
      config.remove();
    });
    beforeEach(async () => {
      running = [];
      ns = await s.namespace();
      cms = `/api/v1/namespaces/${ns}/configmaps`;
    });
    afterEach(() => Promise.all(running.map((each) => each.kill())));

    const start = (args: readonly string[], env: Readonly<Record<string, string>> = {}): Program => {
      const program = new Program(path, args, { KUBECONFIG: config.path, ...env });
      running.push(program);
      return program;
    };
    /** The cache as the informer prints it. */
    const stored = async (): Promise<string> => {
      const items = (await s.get(cms)).body.items as Json[];
      const words = items.map(
        ({ metadata }) => `${String(metadata.name)}@${String(metadata.resourceVersion)}`,
      );
      return `cache ${words.sort().join(' ')}`;
    };

    for (const streams of [false, true])
      it(`an informer has the same objects as the server, ${streams ? 'streaming the first list' : 'listing'}`, async () => {
        for (const name of ['a', 'b', 'c']) await s.post(cms, cm(name));
        const mark = s.isGenuine ? undefined : s.server.audit.mark();
        const informer = start(['informer', ns], { KUBE_FEATURE_WatchListClient: String(streams) });
        const first = await stored();
        await informer.until(
          `synced with ${first}`,
          (lines) => lines.includes('synced') && lines.includes(first),
        );
        if (mark !== undefined) {
          const asked = s.server.audit.since(mark).events.map(({ requestURI }) => requestURI);
          const hasStreamed = asked.some((uri) => uri.includes('sendInitialEvents=true'));
          expect(hasStreamed, asked.join('\n')).to.equal(streams);
        }
        await s.merge(`${cms}/a`, { data: { a: '2' } });
        await s.delete(`${cms}/b`);
        await s.post(cms, cm('d'));
        const last = await stored();
        await informer.until(last, (lines) => lines.at(-1) === last);
      });

    it('one of two managers leads, and the other takes over when it dies', async () => {
      await s.post(cms, cm('a'));
      const managers = [start(['manager', ns, 'one']), start(['manager', ns, 'two'])] as const;
      await Promise.all(
        managers.map((each) => each.until('its cache is synced', (l) => l.includes('synced'))),
      );
      await Promise.any(managers.map((each) => each.until('it leads', (lines) => lines.includes('leads'))));
      const [leader, other] = managers[0].lines.includes('leads')
        ? managers
        : ([managers[1], managers[0]] as const);
      await leader.until('it reconciles', (lines) => lines.includes('reconciled a'));
      await s.post(cms, cm('b'));
      await leader.until('it reconciles what is new', (lines) => lines.includes('reconciled b'));
      const lease = (await s.get(`/apis/coordination.k8s.io/v1/namespaces/${ns}/leases/go-clients`)).body;
      expect(lease.spec).to.include({ leaseTransitions: 0 });
      expect(other.lines).to.deep.equal(['synced']);
      await leader.kill();
      await s.post(cms, cm('c'));
      await other.until('it follows', (lines) => lines.includes('leads') && lines.includes('reconciled c'));
      const next = (await s.get(`/apis/coordination.k8s.io/v1/namespaces/${ns}/leases/go-clients`)).body;
      expect(next.spec.leaseTransitions).to.equal(1);
      expect(next.spec.holderIdentity).to.not.equal(lease.spec.holderIdentity);
    });
  });
