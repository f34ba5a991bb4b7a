/**
 * How an installation finds its component: by reference or inline, with the settings of its Context, and verified by
 * signatures.
 */
import { expect } from 'chai';
import { API_VERSION } from '../../../../src/api/labels.ts';
import { componentFinder } from '../../../../controllers/installation/gather/component.ts';
import {
  TemporarilyUnavailable,
  asPhaseError,
  withPhaseErrors,
  withPhaseErrorsAsync,
  unlessDeleted,
} from '../../../../controllers/installation/gather/component-errors.ts';
import type { VerificationPolicy } from '../../../../controllers/installation/gather/verification.ts';
import type { Context } from '../../../../src/api/kinds/context.ts';
import type { Installation } from '../../../../src/api/kinds/installation.ts';
import { KubeconfigProblem } from '../../../../src/blueprint/kubeconfigs/errors.ts';
import { descriptorsHere } from '../../../../src/components/descriptor-work.ts';
import { inRepository } from '../../../../src/components/repository.ts';
import { readDescriptor, type JsonMap } from '../../../../src/components/descriptor.ts';
import { ComponentProblem, RegistryUnavailable } from '../../../../src/components/errors.ts';
import type { Request, ComponentRepositories } from '../../../../src/components/component-repositories.ts';
import { ComponentView, type ComponentSource } from '../../../../src/components/view.ts';
import { PhaseError } from '../../../../src/machine/decision.ts';
import { InvalidObjectName, apiErrorFrom } from '../../../../src/runtime/errors.ts';
import type { Obj } from '../../../../src/runtime/types.ts';
import { NOWHERE, descriptor, overwrites } from '../../../support/components.ts';
import { child, deleting, installation, running } from '../../../support/given.ts';
import { keyPair, withSignature } from '../../../support/signing.ts';
import { JOB } from './given.ts';
import { server } from './server.ts';

const PLACE = { type: 'OCIRegistry', baseUrl: 'x.org/stock' };
const NAME = 'x.org/c';
const reference = (more: object = {}) => ({ ref: { componentName: NAME, version: '1.0.0', ...more } });
const document = (more: Readonly<Record<string, unknown>> = {}) => descriptor(NAME, '1.0.0', [], [], more);
const context = (more: Partial<Context> = {}): Context => ({
  apiVersion: 'landscaper.gardener.cloud/v1alpha1',
  kind: 'Context',
  metadata: { name: 'default', namespace: 'demo', resourceVersion: '1' },
  repositoryContext: PLACE,
  ...more,
});
type Spec = Partial<Installation['spec']>;
const asking = (componentDescriptor: object | undefined = reference(), more: Spec = {}): Installation =>
  installation('stack', {
    status: running(JOB, 'Init'),
    spec: { ...(componentDescriptor && { componentDescriptor: componentDescriptor }), ...more },
  });

interface Call {
  readonly what: 'find' | 'inline' | 'view';
  readonly args: readonly unknown[];
  readonly request: Request;
}
interface StockFacts {
  readonly found?: object;
  readonly unverified?: readonly string[];
  readonly refusal?: Error;
  /** Size of its descriptor. */
  readonly bytes?: number;
}
function stockOf({ found = document(), unverified = [], refusal, bytes = 0 }: StockFacts = {}) {
  const calls: Call[] = [];
  const repository = {} as never;
  const repositories = {
    find(args: unknown, request: Request) {
      calls.push({ what: 'find', args: [args], request });
      return refusal
        ? Promise.reject(refusal)
        : Promise.resolve({ component: readDescriptor(found), repository, bytes });
    },
    descriptors: () => descriptorsHere,
    inline(given: JsonMap, place: JsonMap | undefined, request: Request, what: string) {
      calls.push({ what: 'inline', args: [given, place], request });
      const component = readDescriptor(given, what);
      return Promise.resolve({ component: place ? inRepository(component, place) : component, repository });
    },
    view(source: ComponentSource, own: never, place: unknown, request: Request) {
      calls.push({ what: 'view', args: [source, place], request });
      return Promise.resolve(
        new ComponentView(source, { all: [own], targets: new Map(), unverified }, {} as never),
      );
    },
  } as unknown as ComponentRepositories;
  return { calls, repositories };
}

function finder(
  facts: StockFacts & { readonly stored?: readonly Obj[]; readonly verification?: VerificationPolicy } = {},
) {
  const { calls, repositories } = stockOf(facts);
  const { asked, client } = server(...(facts.stored ?? []));
  const { verification } = facts;
  const find = componentFinder({ client, repositories, ...(verification && { verification }) });
  return { calls, asked, find };
}
const core = (kind: string, name: string, data: Record<string, string>): Obj =>
  ({ apiVersion: 'v1', kind, metadata: { name, namespace: 'demo' }, data }) as Obj;
const base64 = (text: string): string => Buffer.from(text).toString('base64');

async function problemOf(work: Promise<unknown>) {
  const error: unknown = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof PhaseError)) throw new Error(`no PhaseError, but ${String(error)}`);
  const { operation, reason, message } = error;
  return { operation, reason, message, outcome: error.outcome };
}
const fails = (reason: string, message: string) => ({
  operation: 'InitPrerequisites',
  reason,
  message,
  outcome: 'fail',
});

describe('the component of an installation', () => {
  it('is none if it names none, and nothing is read then', async () => {
    const { find, calls, asked } = finder();
    const none = { view: undefined, condition: undefined };
    expect(await find(installation('stack'), undefined)).to.deep.equal(none);
    expect(await find(installation('stack', { spec: { componentDescriptor: {} } }), context())).to.deep.equal(
      none,
    );
    expect([calls, asked]).to.deep.equal([[], []]);
  });
  it('cannot be found without a Context', async () => {
    expect(await problemOf(finder().find(asking(), undefined))).to.deep.equal(
      fails('CalculateContext', 'the context of the installation no longer exists'),
    );
  });

  const original = (more: object = {}) => ({
    repositoryContext: PLACE,
    componentName: NAME,
    version: '1.0.0',
    ...more,
  });
  it('is searched where the Context says', async () => {
    const { find, calls } = finder();
    const { view, condition } = await find(asking(), context());
    expect(calls.map(({ what, args }) => [what, ...args])).to.deep.equal([
      ['find', original()],
      ['view', { kind: 'ref', original: original(), effective: original() }, PLACE],
    ]);
    expect(view?.own.name).to.equal(NAME);
    expect(condition).to.equal(undefined);
  });
  it('is searched where the installation says', async () => {
    const { find, calls } = finder();
    await find(asking(reference({ repositoryContext: NOWHERE })), context());
    expect(calls[0]?.args).to.deep.equal([original({ repositoryContext: NOWHERE })]);
    expect(calls[1]?.args[1]).to.deep.equal(NOWHERE);
  });
  it('is searched without a repository if neither names one', async () => {
    const { find, calls } = finder();
    await find(asking(), context({ repositoryContext: undefined }));
    expect(calls[0]?.args).to.deep.equal([{ componentName: NAME, version: '1.0.0' }]);
  });

  it('may be inline, with the last of its own repositories', async () => {
    const { find, calls } = finder();
    const inline = document({ repositoryContexts: [PLACE, NOWHERE] });
    await find(asking({ inline }), context());
    expect(calls.map(({ what, args }) => [what, ...args])).to.deep.equal([
      ['inline', inline, PLACE],
      ['view', { kind: 'inline', document: inline }, NOWHERE],
    ]);
  });
  it('may be inline, with the repository of the Context', async () => {
    const { find, calls } = finder();
    await find(asking({ inline: document({ repositoryContexts: [] }) }), context());
    expect(calls[0]?.args[1]).to.deep.equal(PLACE);
  });
  it('may have a repository of its own if the Context has none', async () => {
    const { find, calls } = finder();
    await find(asking({ inline: document() }), context({ repositoryContext: undefined }));
    expect(calls).to.have.length(2);
  });
  it('must have a repository, inline or not', async () => {
    const given = asking({ inline: document({ repositoryContexts: [] }) });
    expect(await problemOf(finder().find(given, context({ repositoryContext: undefined })))).to.deep.equal(
      fails(
        'CalculateContext',
        'RepositoryContextMissing: neither the inline descriptor nor the context names one',
      ),
    );
  });
  it('must be a component descriptor if it is inline', async () => {
    const { reason, message } = await problemOf(finder().find(asking({ inline: { a: 1 } }), context()));
    expect(reason).to.equal('CalculateContext');
    expect(message).to.match(/^spec\.componentDescriptor\.inline is not valid: /);
  });

  for (const [reason, blueprint] of [
    ['ResolveBlueprint', { ref: { resourceName: 'bp' } }],
    ['InitInstallationOperation', { inline: { filesystem: {} } }],
  ] as const) {
    it(`that is not available ends the job as ${reason}, by where the blueprint is`, async () => {
      const refusal = new ComponentProblem('no such component');
      const given = asking(reference(), { blueprint });
      expect(await problemOf(finder({ refusal }).find(given, context()))).to.deep.equal(
        fails(reason, 'no such component'),
      );
    });
  }
});

describe('a component that was found', () => {
  it('stays the same for its job, without the fetched contents', async () => {
    const { find, calls } = finder();
    const first = await find(asking(), context());
    const second = await find(
      asking(),
      context({ metadata: { name: 'default', namespace: 'demo', resourceVersion: '2' } }),
    );
    expect(calls).to.have.length(2);
    expect(second.view).to.not.equal(first.view);
    expect(second.view?.identity).to.equal(first.view?.identity);
    expect(second.condition).to.equal(first.condition);
  });
  const again: readonly (readonly [title: string, Installation, Context])[] = [
    ['another job', { ...asking(), status: { ...running('j3', 'Init'), observedGeneration: 1 } }, context()],
    ['another installation', { ...asking(), metadata: { ...asking().metadata, uid: 'other' } }, context()],
    ['another component', asking(reference({ version: '2.0.0' })), context()],
    ['another Context', asking(), context({ repositoryContext: NOWHERE })],
  ];
  for (const [title, self, where] of again) {
    it(`is searched again for ${title}`, async () => {
      const { find, calls } = finder();
      await find(asking(), context());
      await find(self, where);
      expect(calls).to.have.length(4);
    });
  }
  it('is dropped from the cache after 500 others, the oldest first', async () => {
    const { find, calls } = finder();
    const of = (i: number) => ({ ...asking(), metadata: { ...asking().metadata, uid: `uid-${String(i)}` } });
    for (let i = 0; i < 500; i++) await find(of(i), context());
    await find(of(0), context());
    expect(calls).to.have.length(1000);
    await find(of(500), context());
    await find(of(1), context());
    expect(calls).to.have.length(1002);
    await find(of(0), context());
    expect(calls).to.have.length(1004);
  });
  it('is forgotten when those after it have descriptors of more than 32 MiB', async () => {
    const { find, calls } = finder({ bytes: 8 * 2 ** 20 });
    const of = (i: number) => ({ ...asking(), metadata: { ...asking().metadata, uid: `uid-${String(i)}` } });
    for (let i = 0; i < 4; i++) await find(of(i), context());
    await find(of(0), context());
    expect(calls).to.have.length(8);
    await find(of(4), context());
    await find(of(4), context());
    await find(of(0), context());
    expect(calls).to.have.length(12);
  });
});

describe('the settings of a Context', () => {
  const tooMany = (count: number, more: object = {}) =>
    context({
      registryPullSecrets: Array.from({ length: count }, (_, i) => ({ name: `s${String(i)}` })),
      ...more,
    });
  it('are at most 100 secrets, of which none is read when there are more', async () => {
    const { find, asked } = finder();
    expect(await problemOf(find(asking(), tooMany(10_000)))).to.deep.equal(
      fails(
        'CalculateContext',
        "context 'default' references 10000 pull secrets; the limit of 100 is fixed: combine some of them",
      ),
    );
    expect(asked).to.deep.equal([]);
  });
  it('are secrets of at most 256 KiB of credentials together', async () => {
    const large = core('Secret', 's0', {
      '.dockerconfigjson': base64(JSON.stringify({ auths: {}, more: 'x'.repeat(150_000) })),
    });
    const other = { ...large, metadata: { ...large.metadata, name: 's1' } };
    const { find } = finder({ stored: [large, other] });
    const { message, outcome } = await problemOf(find(asking(), tooMany(2)));
    expect(message).to.match(
      /^with secret demo\/s1 the pull secrets have more than 262144 bytes .+ is fixed$/,
    );
    expect(outcome).to.equal('fail');
  });
  it('is an OCM configuration that is short enough to be read for every job', async () => {
    const config = core('ConfigMap', 'ocm', { '.ocmconfig': `a: ${'x'.repeat(132_000)}` });
    const { find } = finder({ stored: [config] });
    const { message } = await problemOf(find(asking(), context({ ocmConfig: { name: 'ocm' } })));
    expect(message).to.contain('more than 131072 characters; this limit is fixed');
  });
  it('are at most 1000 overwrites', async () => {
    const overwrites = Array.from({ length: 1001 }, () => ({ source: {}, substitution: {} }));
    const { find } = finder({
      stored: [
        {
          ...core('ComponentVersionOverwrites', 'many', {}),
          apiVersion: API_VERSION,
          overwrites,
        } as Obj,
      ],
    });
    const { message } = await problemOf(find(asking(), context({ componentVersionOverwrites: 'many' })));
    expect(message).to.contain('references 1001 overwrites').and.to.contain('limit of 1000 is fixed');
  });
  const secretOf = (name: string, host: string) =>
    core('Secret', name, {
      '.dockerconfigjson': base64(JSON.stringify({ auths: { [host]: { username: 'u', password: host } } })),
    });
  it('contain secrets with credentials', async () => {
    const { find, calls, asked } = finder({ stored: [secretOf('one', 'a.org'), secretOf('two', 'b.org')] });
    await find(asking(), context({ registryPullSecrets: [{ name: 'one' }, { name: 'two' }] }));
    expect(asked).to.deep.equal(['Secret demo/one', 'Secret demo/two']);
    const credentials = calls[0]?.request.credentials;
    expect(['a.org', 'b.org', 'c.org'].map((host) => credentials?.for(host, 'x')?.password)).to.deep.equal([
      'a.org',
      'b.org',
      undefined,
    ]);
    expect(calls[0]?.request.resolvers).to.deep.equal([]);
    expect(calls[0]?.request.overwrites).to.deep.equal([]);
  });
  it('must contain valid secrets', async () => {
    const stored = [core('Secret', 'bad', { '.dockerconfigjson': base64('{') })];
    const { reason, message } = await problemOf(
      finder({ stored }).find(asking(), context({ registryPullSecrets: [{ name: 'bad' }] })),
    );
    expect(reason).to.equal('CalculateContext');
    expect(message).to.contain('secret demo/bad');
  });
  it('may contain empty secrets', async () => {
    const empty = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'e', namespace: 'demo' } };
    const { find, calls } = finder({ stored: [empty] });
    await find(asking(), context({ registryPullSecrets: [{ name: 'e' }] }));
    expect(calls).to.have.length(2);
  });

  const resolvers = JSON.stringify({ resolvers: [{ prefix: 'x.org', repository: NOWHERE }] });
  it('contain an OCM configuration with resolvers', async () => {
    const { find, calls } = finder({ stored: [core('ConfigMap', 'ocm', { '.ocmconfig': resolvers })] });
    await find(asking(), context({ ocmConfig: { name: 'ocm' } }));
    expect(calls[0]?.request.resolvers).to.deep.equal([
      { prefix: 'x.org', priority: 10, repository: NOWHERE },
    ]);
  });
  it('must contain a valid OCM configuration', async () => {
    const stored = [core('ConfigMap', 'ocm', { '.ocmconfig': '{' })];
    const { reason, message } = await problemOf(
      finder({ stored }).find(asking(), context({ ocmConfig: { name: 'ocm' } })),
    );
    expect(reason).to.equal('CalculateContext');
    expect(message).to.match(/^\.ocmconfig in config map demo\/ocm is not valid YAML: /);
  });
  it('contain an OCM configuration under its key', async () => {
    const stored = [core('ConfigMap', 'ocm', { other: resolvers })];
    expect(
      await problemOf(finder({ stored }).find(asking(), context({ ocmConfig: { name: 'ocm' } }))),
    ).to.deep.equal(fails('CalculateContext', 'config map demo/ocm has no key .ocmconfig'));
  });

  const overwriting = context({ componentVersionOverwrites: 'newer' });
  const newer = (entries: readonly object[]): Obj => {
    const object = overwrites('newer', entries);
    return { ...object, metadata: { ...object.metadata, namespace: 'demo' } };
  };
  const entry = { source: { componentName: NAME }, substitution: { version: '2.0.0' } };
  it('contain overwrites, and the resulting reference is reported', async () => {
    const { find, calls } = finder({ stored: [newer([entry])] });
    const { condition } = await find(asking(), overwriting);
    expect(calls[0]?.request.overwrites).to.deep.equal([entry]);
    expect(calls[1]?.args[0]).to.have.nested.property('effective.version', '2.0.0');
    expect(calls[1]?.args[0]).to.have.nested.property('original.version', '1.0.0');
    expect(condition).to.deep.equal({
      type: 'ComponentReferenceOverwrite',
      status: 'True',
      reason: 'FoundOverwrite',
      message:
        'Component reference has been overwritten:\nRepositoryContext has not been overwritten\n' +
        'ComponentName has not been overwritten\n1.0.0 -> 2.0.0',
    });
  });
  const untouched = {
    type: 'ComponentReferenceOverwrite',
    status: 'False',
    reason: 'No overwrite defined',
    message: 'component reference has not been overwritten',
  };
  it('may contain overwrites that do not match, or an inline component', async () => {
    const stored = [newer([{ ...entry, source: { componentName: 'other' } }])];
    expect((await finder({ stored }).find(asking(), overwriting)).condition).to.deep.equal(untouched);
    const inline = finder({ stored: [newer([entry])] });
    expect((await inline.find(asking({ inline: document() }), overwriting)).condition).to.deep.equal(
      untouched,
    );
  });
  it('may contain overwrites without entries', async () => {
    const { overwrites: _, ...empty } = newer([]) as Obj & { overwrites: unknown };
    const { find, calls } = finder({ stored: [empty] });
    await find(asking(), overwriting);
    expect(calls[0]?.request.overwrites).to.deep.equal([]);
  });

  const missing: readonly (readonly [Partial<Context>, string])[] = [
    [
      { registryPullSecrets: [{ name: 'no' }] },
      "Op: Secret - Reason: GetPullSecret - Message: context 'default' references Secret 'no', which cannot be found",
    ],
    [
      { ocmConfig: { name: 'no' } },
      "Op: ConfigMap - Reason: GetOcmConfig - Message: context 'default' references ConfigMap 'no', which cannot be found",
    ],
    [
      { componentVersionOverwrites: 'no' },
      "Op: ComponentVersionOverwrites - Reason: GetComponentVersionOverwrites - Message: context 'default' references ComponentVersionOverwrites resource 'no', which cannot be found",
    ],
  ];
  for (const [more, message] of missing) {
    it(`must exist: ${Object.keys(more).join()}`, async () => {
      expect(await problemOf(finder().find(asking(), context(more)))).to.deep.equal(
        fails('CalculateContext', message),
      );
    });
  }

  it('end the job with a name that no object can have, and are read again after other errors', async () => {
    const { repositories } = stockOf();
    const failing = (error: Error) =>
      componentFinder({ client: { get: () => Promise.reject(error) }, repositories })(
        asking(),
        context({ registryPullSecrets: [{ name: 'a/b' }] }),
      );
    expect(await problemOf(failing(new InvalidObjectName({ message: '"a/b" is no name' })))).to.deep.equal(
      fails('CalculateContext', `context 'default': "a/b" is no name`),
    );
    const down = apiErrorFrom(503, {}, { verb: 'get', kind: 'Secret' });
    expect(await failing(down).catch((error: unknown) => error)).to.equal(down);
  });
});

describe('the signature of a component', () => {
  const keys = keyPair();
  const signed = withSignature(document(), keys);
  const demanding = (more: object = { signatureName: 'release' }) =>
    asking(reference(), { verification: more as never });
  const key = (data: Record<string, string> = { key: base64(keys.publicKey) }) =>
    core('Secret', 'keys', data);
  const trusting = (entry: object = { publicKeySecretReference: { name: 'keys', key: 'key' } }) =>
    context({ verificationSignatures: { release: entry } });
  const look = (
    self: Installation,
    {
      where = trusting(),
      stored = [key()],
      found = signed,
      ...more
    }: {
      where?: Context;
      stored?: readonly Obj[];
      found?: object;
      verification?: VerificationPolicy;
      unverified?: readonly string[];
    } = {},
  ) => finder({ stored, found, ...more }).find(self, where);
  const accepts = async (work: Promise<{ readonly view: unknown }>) => {
    expect((await work).view).to.not.equal(undefined);
  };
  const unsigned = document();

  it('is verified if the installation requires it', async () => {
    await accepts(look(demanding()));
    const { reason, message } = await problemOf(look(demanding(), { found: unsigned }));
    expect(reason).to.equal('VerifySignature');
    expect(message).to.contain('signature release of component x.org/c:1.0.0 is not there');
  });
  it('is not verified if neither installation nor policy requires it', async () => {
    await accepts(look(asking(), { found: unsigned, where: context() }));
  });
  it('is not verified if verification is disabled', async () => {
    await accepts(look(demanding(), { found: unsigned, where: context(), verification: 'Disabled' }));
  });
  const mustName =
    'this installation requires signed components: spec.verification.signatureName must name the signature to check';
  it('must be named if it is enforced or required', async () => {
    const enforced = look(asking(), { verification: 'Enforce' });
    expect(await problemOf(enforced)).to.deep.equal(fails('ExtractVerifyInfo', mustName));
    expect(await problemOf(look(demanding({})))).to.deep.equal(fails('ExtractVerifyInfo', mustName));
    expect(await problemOf(look(demanding({ signatureName: '' })))).to.deep.equal(
      fails('ExtractVerifyInfo', mustName),
    );
  });
  it('is verified if it is enforced', async () => {
    await accepts(look(demanding(), { verification: 'Enforce' }));
    expect(
      (await problemOf(look(demanding(), { found: unsigned, verification: 'Enforce' }))).reason,
    ).to.equal('VerifySignature');
  });

  const below = (): Installation => ({ ...child('p', 'a', running(JOB)), spec: demanding().spec });
  it('of the component above covers components without their own signature', async () => {
    await accepts(look(below(), { found: unsigned }));
    expect((await problemOf(look(below(), { found: unsigned, verification: 'Enforce' }))).reason).to.equal(
      'VerifySignature',
    );
  });
  it('is verified below the root if there is one', async () => {
    await accepts(look(below()));
    const other = core('Secret', 'keys', { key: base64(keyPair().publicKey) });
    expect((await problemOf(look(below(), { stored: [other] }))).reason).to.equal('VerifySignature');
  });

  it('must cover everything that the component refers to', async () => {
    expect(await problemOf(look(demanding(), { unverified: ['reference a', 'reference b'] }))).to.deep.equal(
      fails(
        'VerifySignature',
        'signature release of component x.org/c:1.0.0 does not cover all components: the digests of reference a, reference b cannot be compared; references and components must contain all digests',
      ),
    );
    await accepts(look(asking(), { unverified: ['reference a'] }));
  });

  const byKey = (secret: object) => trusting({ publicKeySecretReference: { name: 'keys', ...secret } });
  const accepted: readonly (readonly [string, Context, Obj])[] = [
    ['a key in its own namespace', byKey({ key: 'key', namespace: 'demo' }), key()],
    ['a key if the namespace is empty', byKey({ key: 'key', namespace: '' }), key()],
    ['the only entry of a secret', byKey({}), key()],
    ['one of several entries', byKey({ key: 'key' }), key({ other: 'x', key: base64(keys.publicKey) })],
  ];
  for (const [title, where, secret] of accepted) {
    it(`is verified with ${title}`, async () => {
      await accepts(look(demanding(), { where, stored: [secret] }));
    });
  }
  it('is verified with the public key even if authorities are named', async () => {
    const where = trusting({
      publicKeySecretReference: { name: 'keys' },
      caCertificateSecretReference: { name: 'no' },
    });
    await accepts(look(demanding(), { where }));
  });
  it('is verified with certificates of authorities if no key is named', async () => {
    const where = trusting({ caCertificateSecretReference: { name: 'keys' } });
    const { reason } = await problemOf(
      look(demanding(), { where, stored: [key({ ca: base64('no certificate') })] }),
    );
    expect(reason).to.equal('VerifySignature');
  });

  const refused: readonly (readonly [string, Context, Obj, string])[] = [
    [
      'an entry that the Context does not have',
      context(),
      key(),
      "has no entry 'release' in verificationSignatures",
    ],
    [
      'an entry named like a property of every object',
      context({ verificationSignatures: {} }),
      key(),
      "has no entry 'release' in verificationSignatures",
    ],
    [
      'an entry that names nothing',
      trusting({}),
      key(),
      "names neither a public key nor authorities for signature 'release'",
    ],
    [
      'a secret of another namespace',
      byKey({ namespace: 'other' }),
      key(),
      'references secret other/keys of another namespace; copy the secret to namespace demo and remove the namespace from the reference',
    ],
    ['a missing secret', byKey({ name: 'no' }), key(), 'references secret demo/no, which cannot be found'],
    ['a secret without entries', byKey({}), key({}), 'references secret demo/keys, which contains nothing'],
    [
      'a secret without data',
      byKey({}),
      { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'keys', namespace: 'demo' } },
      'references secret demo/keys, which contains nothing',
    ],
    [
      'a missing key of a secret',
      byKey({ key: 'toString' }),
      key(),
      "references secret demo/keys, which contains no value under key 'toString'",
    ],
    [
      'an empty value',
      byKey({}),
      key({ key: '' }),
      "references secret demo/keys, which contains no value under key 'key'",
    ],
    [
      'a secret of several entries without a key',
      byKey({}),
      key({ a: 'x', b: 'y' }),
      'references secret demo/keys, which contains several entries; name one in key',
    ],
    [
      'a missing key of a secret with several entries',
      byKey({ key: 'c' }),
      key({ a: 'x', b: 'y' }),
      "references secret demo/keys, which contains no value under key 'c'",
    ],
  ];
  for (const [title, where, secret, message] of refused) {
    it(`cannot be verified with ${title}`, async () => {
      expect(await problemOf(look(demanding(), { where, stored: [secret] }))).to.deep.equal(
        fails('ExtractVerifyInfo', `context 'default' ${message}`),
      );
    });
  }
  it('cannot be verified with an entry named like a property of every object', async () => {
    const self = demanding({ signatureName: 'toString' });
    expect(
      (await problemOf(look(self, { where: context({ verificationSignatures: {} }) }))).message,
    ).to.equal("context 'default' has no entry 'toString' in verificationSignatures");
  });
  it('cannot be verified with an invalid secret name; other errors of the server are passed on', async () => {
    const failing = (error: Error) =>
      componentFinder({
        client: { get: () => Promise.reject(error) },
        repositories: stockOf({ found: signed }).repositories,
      })(demanding(), trusting());
    expect((await problemOf(failing(new InvalidObjectName({ message: 'no name' })))).message).to.equal(
      "context 'default' references a secret: no name",
    );
    const down = apiErrorFrom(503, {}, { verb: 'get', kind: 'Secret' });
    expect(await failing(down).catch((error: unknown) => error)).to.equal(down);
  });
});

describe('an error of a component', () => {
  const definite = new ComponentProblem('gone');
  const passing = new RegistryUnavailable('away', {
    cause: Object.assign(new Error('x'), { code: 'ENOTFOUND' }),
  });
  const thrower = (error: Error) => () => {
    throw error;
  };

  it('ends the job if it is permanent, and is retried if it is temporary', () => {
    const error = asPhaseError('R', definite) as PhaseError;
    expect(error.problem).to.deep.equal({
      operation: 'InitPrerequisites',
      reason: 'R',
      message: 'gone',
      codes: [],
    });
    expect([error.outcome, error.cause]).to.deep.equal(['fail', definite]);
    const away = asPhaseError('R', passing, 'op') as PhaseError;
    expect(away.problem).to.deep.equal({
      operation: 'op',
      reason: 'R',
      message: 'away',
      codes: [],
      remote: 'NameNotFound',
    });
    expect([away.outcome, away.cause]).to.deep.equal(['retry', passing]);
  });
  it('includes errors of a kubeconfig, and nothing else', () => {
    expect(asPhaseError('R', new KubeconfigProblem('x'))).to.be.instanceOf(PhaseError);
    const other = new Error('x');
    expect(asPhaseError('R', other)).to.equal(other);
  });
  it('gets an explanation where it happens', async () => {
    expect(withPhaseErrors('R', () => 1)).to.equal(1);
    expect(await withPhaseErrorsAsync('R', () => Promise.resolve(1))).to.equal(1);
    expect(() => withPhaseErrors('R', thrower(definite))).to.throw(PhaseError, 'gone');
    expect(await problemOf(withPhaseErrorsAsync('R', () => Promise.reject(definite)))).to.deep.equal(
      fails('R', 'gone'),
    );
  });

  describe('during a deletion', () => {
    const gone = installation('stack', { meta: deleting });
    const away = new TemporarilyUnavailable('op', 'R', 'away', ['ERR_TIMEOUT']);
    const outcome = async (self: Installation, error: Error) => {
      const caught: unknown = await unlessDeleted(self, () => Promise.reject(error)).catch((e: unknown) => e);
      return caught === error
        ? 'the same'
        : caught instanceof PhaseError
          ? [caught.outcome, caught.problem]
          : caught;
    };
    it('is not retried', async () => {
      expect(await outcome(gone, away)).to.deep.equal([
        'fail',
        { operation: 'op', reason: 'R', message: 'away', codes: ['ERR_TIMEOUT'] },
      ]);
      expect(await outcome(installation('stack'), away)).to.equal('the same');
    });
    it('is unchanged otherwise', async () => {
      expect(await outcome(gone, definite)).to.equal('the same');
      expect(await unlessDeleted(gone, () => Promise.resolve(1))).to.equal(1);
    });
  });
});
