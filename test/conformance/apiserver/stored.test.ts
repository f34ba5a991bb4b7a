/**
 * What servers store of objects of all built-in kinds, as a real server was recorded. ESPALIER_RECORD_STORED=1 with
 * ESPALIER_TEST_KUBECONFIG records it again from an unused kube-apiserver, after another version of Kubernetes or new objects.
 */
import { expect } from 'chai';
import { isObject } from '../../../src/apiserver/types.ts';
import { storedKinds } from './stored/cases.ts';
import {
  changedServices,
  created,
  isRefused,
  statuses,
  type Outcome,
  type Outcomes,
} from './stored/outcomes.ts';
import { differences, readRecorded, writeRecorded } from './stored/recorded.ts';
import { useSubject, type Json } from './subject.ts';

const isRecording = process.env['ESPALIER_RECORD_STORED'] === '1';

/** What the embedded server stores otherwise, by group, with the reason. */
const DIFFERENT: Readonly<Record<string, { readonly why: string; readonly paths: RegExp }>> = {
  'v1/Pod': {
    why: 'the real server of the tests runs without service accounts',
    paths: /^spec\.serviceAccount/,
  },
  'v1/Pod status': { why: 'as for pods', paths: /^spec\.serviceAccount/ },
  'certificates.k8s.io/v1/CertificateSigningRequest': {
    why: 'the administrators of the servers have other names',
    paths: /^spec\.(?:username|uid|groups)/,
  },
  'certificates.k8s.io/v1/CertificateSigningRequest status': {
    why: 'the administrators of the servers have other names',
    paths: /^spec\.(?:username|uid|groups)/,
  },
  'autoscaling/v1/HorizontalPodAutoscaler status': {
    why: 'what version 1 has no members for is in annotations, which the embedded server writes in the form of version 2',
    paths: /^metadata\.annotations/,
  },
};

/** Objects that a real server refuses and the embedded one accepts. Lower it with new checks. */
const MOST_ACCEPTED = 25;
/** Objects that both refuse for different causes, most of them objects of another kind than the URL's. */
const MOST_DIFFERENT = 181;

describe('what is stored', function () {
  this.timeout(300_000);
  const s = useSubject();
  const recorded = isRecording ? {} : readRecorded();
  const heard: Record<string, Outcomes> = {};
  let accepted = 0;
  let different = 0;

  before(async () => {
    await s.post('/apis/node.k8s.io/v1/runtimeclasses', { metadata: { name: 'r' }, handler: 'h' });
  });

  const compare = (group: string, run: () => Promise<Outcomes>): void => {
    it(`API-40: ${group} is as a real server stores it`, async () => {
      const outcomes = await run();
      heard[group] = outcomes;
      if (isRecording) return;
      const expected = recorded[group] ?? {};
      expect(Object.keys(outcomes)).to.deep.equal(Object.keys(expected));
      const problems = Object.entries(outcomes).flatMap(([name, outcome]) =>
        problemsOf(group, expected[name], outcome).map((problem) => `${name}: ${problem}`),
      );
      expect(problems.join('\n')).to.equal('');
    });
  };

  const problemsOf = (group: string, expected: Outcome, outcome: Outcome): string[] => {
    if (expected === 'aborted') return [];
    if (isRefused(expected) && !s.isGenuine) {
      if (!isRefused(outcome)) accepted++;
      else if (outcome !== expected) different++;
      return [];
    }
    if (!isObject(expected) || !isObject(outcome))
      return equal(expected, outcome) ? [] : [`expected ${text(expected)}, found ${text(outcome)}`];
    return differences(expected, outcome)
      .map(([path, value]) => [path.replaceAll('\n', '.'), value] as const)
      .filter(([path]) => s.isGenuine || !DIFFERENT[group]?.paths.test(path))
      .map(([path, value]) => `${path} is ${text(value)}`);
  };

  for (const kind of storedKinds()) {
    const group = `${kind.apiVersion}/${kind.kind}`;
    compare(group, () => created(s, kind, !s.isGenuine));
    if (kind.status) compare(`${group} status`, () => statuses(s, kind));
  }
  compare('v1/Service change', () => changedServices(s));

  if (isRecording)
    after(() => {
      writeRecorded(heard);
    });
  else if (!s.isGenuine)
    it('API-40: most of what a real server refuses is refused, for the same causes', () => {
      expect(accepted, 'accepted').to.be.at.most(MOST_ACCEPTED);
      expect(different, 'refused for other causes').to.be.at.most(MOST_DIFFERENT);
    });
});

const equal = (a: Outcome, b: Outcome): boolean => a === b;
const text = (value: Json): string => JSON.stringify(value) ?? 'absent';
