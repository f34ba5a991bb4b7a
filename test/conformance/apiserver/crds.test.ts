/** CustomResourceDefinitions and the objects of their kinds: scenarios API-148 to API-165. */
import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { causesOf, refused, succeeded, warningsOf } from './assertions.ts';
import { conditionOf, widget, widgetCrd } from './fixtures.ts';
import { skip } from '../../support/skip.ts';
import { useSubject, type Json, type Reply } from './subject.ts';

const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const NOT_FOUND = '404 page not found\n';
const text: Json = { type: 'string' };

/** A group that no other run uses. */
const newGroup = (): string => `g${randomBytes(5).toString('hex')}.io`;

const clone = (value: Json): Json => JSON.parse(JSON.stringify(value));

describe('custom resource definitions', function () {
  this.timeout(90_000);
  const subject = useSubject();
  const isEstablished = (reply: Reply): boolean => conditionOf(reply.body, 'Established')?.status === 'True';

  /** Creates a definition, and waits until its kind is served. */
  async function establish(crd: Json): Promise<void> {
    succeeded(await subject.post(CRDS, crd));
    await subject.eventually(`${CRDS}/${crd.metadata.name}`, isEstablished);
    const { group, names, versions } = crd.spec;
    const served = versions.find((version: Json) => version.served);
    const list = await subject.eventually(
      `/apis/${group}/${served.name}/${names.plural}`,
      (r) => r.code === 200,
    );
    expect(list.code).to.equal(200);
  }

  /** Changes a definition by a merge patch, and waits until `check` holds for a request that depends on it. */
  const change = async (group: string, spec: Json): Promise<Reply> =>
    subject.merge(`${CRDS}/widgets.${group}`, { spec });

  describe('of widgets', () => {
    const group = newGroup();
    let widgets: string;
    const create = (object: Json, query = ''): Promise<Reply> => subject.post(widgets + query, object);

    before(() => establish(widgetCrd(group)));
    after(() => subject.delete(`${CRDS}/widgets.${group}`));
    beforeEach(async () => {
      widgets = `/apis/${group}/v1/namespaces/${await subject.namespace()}/widgets`;
    });

    it('API-148: is established, and discovered with names, categories and scale', async () => {
      const { body } = succeeded(await subject.get(`${CRDS}/widgets.${group}`));
      expect(conditionOf(body, 'NamesAccepted')).to.deep.include({
        status: 'True',
        reason: 'NoConflicts',
        message: 'no conflicts found',
      });
      expect(conditionOf(body, 'Established')).to.deep.include({
        reason: 'InitialNamesAccepted',
        message: 'the initial names have been accepted',
      });
      expect(body.status.acceptedNames).to.deep.include({ singular: 'widget', listKind: 'WidgetList' });
      expect(body.status.storedVersions).to.deep.equal(['v1']);
      const resources = (await subject.get(`/apis/${group}/v1`)).body.resources as Json[];
      const named = (name: string): Json => resources.find((resource) => resource.name === name);
      expect(named('widgets')).to.deep.include({
        shortNames: ['wd'],
        categories: ['all'],
        singularName: 'widget',
      });
      expect(named('widgets/scale')).to.deep.include({ group: 'autoscaling', version: 'v1', kind: 'Scale' });
      expect(named('widgets/status').verbs).to.have.members(['get', 'patch', 'update']);
    });

    it('API-150: a second definition of the same kind is not served', async () => {
      const rival = widgetCrd(group, { spec: { names: { plural: 'gadgets', kind: 'Widget' } } });
      rival.metadata.name = `gadgets.${group}`;
      succeeded(await subject.post(CRDS, rival));
      const path = `${CRDS}/gadgets.${group}`;
      const { body } = await subject.eventually(
        path,
        (r) => conditionOf(r.body, 'NamesAccepted') !== undefined,
      );
      expect(conditionOf(body, 'NamesAccepted')).to.include({ status: 'False' });
      expect(conditionOf(body, 'NamesAccepted').message).to.match(/is already in use$/);
      expect(conditionOf(body, 'Established')).to.deep.include({ status: 'False', reason: 'NotAccepted' });
      expect((await subject.get(`/apis/${group}/v1/gadgets`)).code).to.equal(404);
      await subject.delete(path);
    });

    it('API-151: scope, group, plural and kind are immutable', async () => {
      const reply = await change(group, { scope: 'Cluster' });
      expect(reply.code).to.equal(422);
      expect(causesOf(reply)).to.deep.equal(['spec.scope: Invalid value: "Cluster": field is immutable']);
      expect(causesOf(await change(group, { names: { kind: 'Gadget' } }))).to.deep.equal([
        'spec.names.kind: Invalid value: "Gadget": field is immutable',
      ]);
      for (const spec of [{ group: 'other.io' }, { names: { plural: 'gadgets' } }]) {
        const causes = causesOf(await change(group, spec));
        expect(causes.some((cause) => cause.endsWith('field is immutable'))).to.equal(true);
      }
    });

    it('API-152: prunes, fills in defaults, drops the status, and sets generation 1', async () => {
      const object = widget(group, 'w', { zz: 1, lm: [{ k: 'a', zz: 1 }], any: { free: [1] }, set: ['x'] });
      const reply = await create({ ...object, status: { phase: 'x' }, top: 1 });
      expect(reply.code).to.equal(201);
      expect(reply.body.spec).to.deep.equal({
        foo: 'abc',
        num: 3,
        mode: 'A',
        defobj: { x: 7 },
        lm: [{ k: 'a' }],
        any: { free: [1] },
        set: ['x'],
      });
      expect(reply.body).to.not.have.any.keys('status', 'top');
      expect(reply.body.metadata.generation).to.equal(1);
      expect(warningsOf(reply)).to.have.members([
        'unknown field "spec.zz"',
        'unknown field "spec.lm[0].zz"',
        'unknown field "top"',
      ]);
      refused(
        await create(object, '?fieldValidation=Strict'),
        400,
        'Widget in version "v1" cannot be handled as a Widget: strict decoding error: …',
      );
    });

    const rows: [string, Json, string, string][] = [
      ['a missing field', { foo: undefined }, 'FieldValueRequired', 'spec.foo: Required value'],
      [
        'a type',
        { num: 'x' },
        'FieldValueTypeInvalid',
        'spec.num: Invalid value: "string": spec.num in body must be of type integer: "string"',
      ],
      [
        'a minimum',
        { num: 0 },
        'FieldValueInvalid',
        'spec.num: Invalid value: 0: spec.num in body should be greater than or equal to 1',
      ],
      [
        'a maximum',
        { num: 10 },
        'FieldValueInvalid',
        'spec.num: Invalid value: 10: spec.num in body should be less than or equal to 9',
      ],
      [
        'a string that is too short',
        { foo: 'a' },
        'FieldValueInvalid',
        'spec.foo: Invalid value: "a": spec.foo in body should be at least 2 chars long',
      ],
      [
        'a string that is too long',
        { foo: 'abcdef' },
        'FieldValueTooLong',
        'spec.foo: Too long: may not be more than 5 bytes',
      ],
      [
        'a pattern',
        { foo: 'ABC' },
        'FieldValueInvalid',
        `spec.foo: Invalid value: "ABC": spec.foo in body should match '^[a-z]+$'`,
      ],
      [
        'an enumeration',
        { mode: 'C' },
        'FieldValueNotSupported',
        'spec.mode: Unsupported value: "C": supported values: "A", "B"',
      ],
      [
        'a list that is too short',
        { list: [] },
        'FieldValueInvalid',
        'spec.list: Invalid value: 0: spec.list in body should have at least 1 items',
      ],
      [
        'a list that is too long',
        { list: ['a', 'b', 'c'] },
        'FieldValueTooMany',
        'spec.list: Too many: 3: must have at most 2 items',
      ],
      [
        'a map that is too large',
        { map: { a: 1, b: 2, c: 3 } },
        'FieldValueTooMany',
        'spec.map: Too many: 3: must have at most 2 items',
      ],
      [
        'a format',
        { date: '2020' },
        'FieldValueTypeInvalid',
        'spec.date: Invalid value: "2020": spec.date in body must be of type date-time: "2020"',
      ],
      [
        'an int-or-string',
        { ios: true },
        'FieldValueTypeInvalid',
        'spec.ios: Invalid value: "boolean": spec.ios in body must be of type integer,string: "boolean"',
      ],
      ['a set', { set: ['a', 'a'] }, 'FieldValueDuplicate', 'spec.set[1]: Duplicate value: "a"'],
      [
        'a list map',
        { lm: [{ k: 'a' }, { k: 'a' }] },
        'FieldValueDuplicate',
        'spec.lm[1]: Duplicate value: {"k":"a"}',
      ],
    ];
    for (const [title, spec, reason, cause] of rows) {
      it(`API-153: rejects an object because of ${title}`, async () => {
        const reply = await create(widget(group, 'w', spec), '?dryRun=All');
        expect(reply.code, reply.text).to.equal(422);
        expect(causesOf(reply)).to.deep.equal([cause]);
        expect(reply.body.details.causes[0].reason).to.equal(reason);
        expect(reply.body.message).to.equal(`Widget.${group} "w" is invalid: ${cause}`);
        expect(reply.body.details).to.include({ kind: 'Widget', group, name: 'w' });
      });
    }

    it('API-154: replaces null by the default, drops it, or keeps it if nullable', async () => {
      const { body } = succeeded(await create(widget(group, 'w', { num: null, nul: null, list: null })));
      expect(body.spec).to.deep.include({ num: 3, nul: null });
      expect(body.spec).to.not.have.property('list');
      const reply = await create(widget(group, 'w2', { foo: null }));
      expect(causesOf(reply)).to.deep.equal(['spec.foo: Required value']);
    });

    it('API-155: validates metadata like that of any object', async () => {
      const reply = succeeded(await create(widget(group, 'w', {}, { labels: {}, annotations: {}, zz: 1 })));
      expect(warningsOf(reply)).to.deep.equal(['unknown field "metadata.zz"']);
      expect(reply.body.metadata).to.not.have.any.keys('labels', 'annotations', 'zz');
      refused(
        await create(widget(group, 'w2', {}, { labels: { a: 5 } })),
        400,
        /json: cannot unmarshal number into Go struct field ObjectMeta\.labels of type string$/,
      );
    });

    it('API-156: separates spec and status', async () => {
      const created = succeeded(await create(widget(group, 'w'))).body;
      const path = `${widgets}/w`;
      const main = succeeded(
        await subject.merge(path, { status: { phase: 'x' }, metadata: { labels: { a: 'b' } } }),
      );
      expect(main.body).to.not.have.property('status');
      expect(main.body.metadata.generation).to.equal(1);
      const patch = {
        status: { phase: 'Ready' },
        spec: { num: 5 },
        metadata: { labels: { c: 'd' }, finalizers: ['a/b'] },
      };
      const { body } = succeeded(await subject.merge(`${path}/status`, patch));
      expect(body.status).to.deep.equal({ phase: 'Ready' });
      expect(body.spec).to.deep.equal(created.spec);
      expect(body.metadata.labels).to.deep.equal({ a: 'b' });
      expect(body.metadata).to.not.have.property('finalizers');
      expect(body.metadata.generation).to.equal(1);
      const put = succeeded(
        await subject.put(path, { ...body, spec: { ...body.spec, num: 4 }, status: {} }),
      ).body;
      expect(put.status).to.deep.equal({ phase: 'Ready' });
      expect(put.metadata.generation).to.equal(2);
    });

    it('API-158: scales', async () => {
      succeeded(await create(widget(group, 'w', { replicas: 2 })));
      const path = `${widgets}/w`;
      succeeded(await subject.merge(`${path}/status`, { status: { replicas: 1, selector: 'a=b' } }));
      const scale = succeeded(await subject.get(`${path}/scale`)).body;
      expect(scale).to.deep.include({
        kind: 'Scale',
        apiVersion: 'autoscaling/v1',
        spec: { replicas: 2 },
        status: { replicas: 1, selector: 'a=b' },
      });
      succeeded(await subject.put(`${path}/scale`, { ...scale, spec: { replicas: 3 } }));
      const { body } = succeeded(await subject.get(path));
      expect(body.spec.replicas).to.equal(3);
      expect(body.metadata.generation).to.equal(2);
      expect((await subject.merge(`${path}/scale`, { spec: { replicas: -1 } })).code).to.equal(422);
    });

    it('API-86: requires a resource version to replace', async () => {
      succeeded(await create(widget(group, 'w')));
      const body = refused(
        await subject.put(`${widgets}/w`, widget(group, 'w')),
        422,
        `widgets.${group} "w" is invalid: metadata.resourceVersion: Invalid value: 0: must be specified for an update`,
      );
      expect(body.details.kind).to.equal('widgets');
    });

    it('API-101: rejects a strategic merge patch', async () => {
      succeeded(await create(widget(group, 'w')));
      refused(
        await subject.strategic(`${widgets}/w`, {}),
        415,
        'the body of the request was in an unknown format - accepted media types include: application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml',
      );
    });

    it('API-38: accepts finalizers without a path, with a warning', async () => {
      const finalizers = ['finalizer.landscaper.gardener.cloud'];
      const reply = await create(widget(group, 'w', {}, { finalizers }));
      expect(reply.code).to.equal(201);
      expect(warningsOf(reply)[0]).to.match(
        /^metadata\.finalizers: "finalizer\.landscaper\.gardener\.cloud": prefer/,
      );
      succeeded(await subject.merge(`${widgets}/w`, { metadata: { finalizers: null } }));
    });

    it('API-122: treats sets and maps as such when applying', async () => {
      const applied = widget(group, 'w', { set: ['x'], lm: [{ k: 'a', v: '1' }], any: { l: [1] } });
      const { body } = succeeded(await subject.apply(`${widgets}/w`, applied, 'm1'));
      const entry = body.metadata.managedFields.find((candidate: Json) => candidate.manager === 'm1');
      expect(entry.fieldsV1).to.deep.equal({
        'f:spec': {
          'f:any': { 'f:l': {} },
          'f:foo': {},
          'f:lm': { 'k:{"k":"a"}': { '.': {}, 'f:k': {}, 'f:v': {} } },
          'f:set': { 'v:"x"': {} },
        },
      });
      const other = { ...widget(group, 'w'), spec: { set: ['y'], lm: [{ k: 'b' }, { k: 'a', v: '2' }] } };
      refused(
        await subject.apply(`${widgets}/w`, other, 'm2'),
        409,
        'Apply failed with 1 conflict: conflict with "m1": .spec.lm[k="a"].v',
      );
      other.spec.lm.pop();
      const merged = succeeded(await subject.apply(`${widgets}/w`, other, 'm2')).body;
      expect(merged.spec.set).to.have.members(['x', 'y']);
      expect(merged.spec.lm.map((item: Json) => item.k)).to.have.members(['a', 'b']);
    });

    it('API-164: prints columns, null for what is missing', async () => {
      succeeded(await create(widget(group, 'w')));
      const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io';
      const { body } = succeeded(await subject.get(widgets, { accept }));
      expect(body.columnDefinitions.map((c: Json) => [c.name, c.priority])).to.deep.equal([
        ['Name', 0],
        ['Phase', 0],
        ['Num', 1],
      ]);
      expect(body.rows.map((row: Json) => row.cells)).to.deep.equal([['w', null, 3]]);
    });
  });

  describe('API-149: are rejected', () => {
    const B = 'spec.validation.openAPIV3Schema.properties[spec].properties[b]';
    const group = newGroup();
    const dryRun = (crd: Json): Promise<Reply> => subject.post(`${CRDS}?dryRun=All`, crd);
    const schemaOf = (crd: Json): Json => crd.spec.versions[0].schema.openAPIV3Schema;
    const plain = (properties: Json = {}): Json =>
      clone(
        widgetCrd(group, {
          version: {
            subresources: {},
            additionalPrinterColumns: [],
            schema: {
              openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object', properties } } },
            },
          },
        }),
      );

    const offences: [string, Json, string][] = [
      [
        'a property without type',
        {},
        `${B}.type: Required value: must not be empty for specified object fields`,
      ],
      [
        'properties and additionalProperties',
        { type: 'object', properties: { x: text }, additionalProperties: text },
        `${B}.additionalProperties: Forbidden: additionalProperties and properties are mutual exclusive`,
      ],
      ['a reference', { type: 'object', $ref: '#/x' }, `${B}.$ref: Forbidden: $ref is not supported`],
      [
        'unique items',
        { type: 'array', uniqueItems: true, items: text },
        `${B}.uniqueItems: Forbidden: uniqueItems cannot be set to true since the runtime complexity becomes quadratic`,
      ],
      ['a list without items', { type: 'array' }, `${B}.items: Required value: must be specified`],
      [
        'a default of the wrong type',
        { type: 'integer', default: 'x' },
        `${B}.default: Invalid value: "string":  in body must be of type integer: "string"`,
      ],
      [
        'a default with unknown fields',
        { type: 'object', default: { zz: 1 }, properties: { a: text } },
        `${B}.default: Invalid value: {"zz":1}: must not have unknown fields`,
      ],
      [
        'a default in a condition',
        { type: 'string', anyOf: [{ default: 'x' }] },
        `${B}.anyOf[0].default: Forbidden: must be undefined to be structural`,
      ],
      [
        'a list-map key that may be absent',
        {
          type: 'array',
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['k'],
          items: { type: 'object', properties: { k: text } },
        },
        `${B}.items.properties[k].default: Required value: this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property`,
      ],
    ];
    for (const [title, schema, cause] of offences) {
      it(`for ${title}`, async () => {
        const reply = await dryRun(plain({ b: schema }));
        expect(reply.code, reply.text).to.equal(422);
        expect(causesOf(reply)).to.deep.equal([cause]);
        expect(reply.body.details.kind).to.equal('CustomResourceDefinition');
      });
    }

    const changes: [string, (crd: Json) => void, string | RegExp][] = [
      [
        'a name that is not plural and group',
        (crd) => (crd.metadata.name = `foo.${group}`),
        `metadata.name: Invalid value: "foo.${group}": must be spec.names.plural+"."+spec.group`,
      ],
      [
        'no schema',
        (crd) => delete crd.spec.versions[0].schema,
        'spec.versions[0].schema.openAPIV3Schema: Required value',
      ],
      [
        'the old switch for unknown fields',
        (crd) => (crd.spec.preserveUnknownFields = true),
        'spec.preserveUnknownFields: Invalid value: true: cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead',
      ],
      [
        'a root without type',
        (crd) => delete schemaOf(crd).type,
        'spec.validation.openAPIV3Schema.type: Required value: must not be empty at the root',
      ],
      [
        'more than the name under metadata',
        (crd) =>
          (schemaOf(crd).properties.metadata = {
            type: 'object',
            properties: { labels: { type: 'object' } },
          }),
        'spec.validation.openAPIV3Schema.properties[metadata]: Forbidden: must not specify anything other than name and generateName, but metadata is implicitly specified',
      ],
      [
        'a printer column without type',
        (crd) =>
          (crd.spec.versions[0].additionalPrinterColumns = [{ name: 'a', type: 'foo', jsonPath: '.a' }]),
        'spec.additionalPrinterColumns[0].type: Invalid value: "foo": must be one of boolean,date,integer,number,string',
      ],
      [
        'a protected group',
        (crd) => {
          crd.spec.group = 'ex.k8s.io';
          crd.metadata.name = 'widgets.ex.k8s.io';
        },
        /^metadata\.annotations\[api-approved\.kubernetes\.io\]: Required value: protected groups must have approval annotation/,
      ],
      [
        'two storage versions',
        (crd) => crd.spec.versions.push({ ...crd.spec.versions[0], name: 'v2' }),
        /^spec\.versions: Invalid value: \[.*\]: must have exactly one version marked as storage version$/,
      ],
    ];
    for (const [title, spoil, cause] of changes) {
      it(`for ${title}`, async () => {
        const crd = plain();
        spoil(crd);
        const reply = await dryRun(crd);
        expect(reply.code, reply.text).to.equal(422);
        if (typeof cause === 'string') expect(causesOf(reply)).to.deep.equal([cause]);
        else expect(causesOf(reply)[0]).to.match(cause);
      });
    }
  });

  describe('that change', () => {
    const version = (properties: Json, more: Json = {}): Json => ({
      name: 'v1',
      served: true,
      storage: true,
      schema: { openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object', properties } } } },
      ...more,
    });
    let group: string;
    let widgets: string;
    let current: Json;

    async function given(...versions: Json[]): Promise<void> {
      group = newGroup();
      current = widgetCrd(group, { spec: { versions } });
      await establish(current);
      widgets = `/apis/${group}/v1/namespaces/${await subject.namespace()}/widgets`;
    }
    const object = (spec: Json): Json => ({
      apiVersion: `${group}/v1`,
      kind: 'Widget',
      metadata: { name: 'w' },
      spec,
    });
    afterEach(() => subject.delete(`${CRDS}/widgets.${group}`));

    it('API-157: without a status subresource, status counts as content', async () => {
      await given(
        version(
          { a: text },
          { schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } } },
        ),
      );
      succeeded(await subject.post(widgets, { ...object({}), status: { phase: 'x' } }));
      const { body } = succeeded(await subject.merge(`${widgets}/w`, { status: { phase: 'y' } }));
      expect(body.status).to.deep.equal({ phase: 'y' });
      expect(body.metadata.generation).to.equal(2);
    });

    it('API-159: validate objects by their CEL rules', async function () {
      if (!subject.isGenuine)
        skip(this, 'the embedded server stores rules in CEL and does not evaluate them');
      const rule = (expression: string, more: Json): Json => ({ rule: expression, ...more });
      const spec = {
        type: 'object',
        required: ['a'],
        properties: {
          a: {
            ...text,
            maxLength: 9,
            'x-kubernetes-validations': [rule("self != 'bad'", { message: 'a is bad' })],
          },
          n: { type: 'integer' },
          fixed: {
            ...text,
            maxLength: 9,
            'x-kubernetes-validations': [rule('self == oldSelf', { message: 'stays' })],
          },
        },
        'x-kubernetes-validations': [
          rule("self.a != 'odd' || !has(self.n)", {
            messageExpression: "'there is no n with ' + self.a",
            fieldPath: '.n',
            reason: 'FieldValueForbidden',
          }),
        ],
      };
      await given(version({}, { schema: { openAPIV3Schema: { type: 'object', properties: { spec } } } }));
      const findings = (reply: Reply): readonly Json[] => {
        expect(reply.code, reply.text).to.equal(422);
        return reply.body.details.causes;
      };
      expect(findings(await subject.post(widgets, object({ a: 'bad' })))).to.deep.equal([
        { reason: 'FieldValueInvalid', message: 'Invalid value: "string": a is bad', field: 'spec.a' },
      ]);
      expect(findings(await subject.post(widgets, object({ a: 'odd', n: 7 })))).to.deep.equal([
        { reason: 'FieldValueForbidden', message: 'Forbidden: there is no n with odd', field: 'spec.n' },
      ]);
      succeeded(await subject.post(widgets, object({ a: 'good', n: 4, fixed: 'x' })));
      expect(findings(await subject.merge(`${widgets}/w`, { spec: { fixed: 'y' } }))).to.deep.equal([
        { reason: 'FieldValueInvalid', message: 'Invalid value: "string": stays', field: 'spec.fixed' },
      ]);
    });

    it('API-160: accept values that were valid before, as long as they do not change', async () => {
      await given(version({ a: text, b: text }));
      succeeded(await subject.post(widgets, object({ a: 'long', b: 'x' })));
      const strict = version({ a: { ...text, maxLength: 3 }, b: text });
      succeeded(await change(group, { versions: [strict] }));
      const probe = { ...object({ a: 'long' }), metadata: { name: 'probe' } };
      for (let code = 201; code !== 422;) code = (await subject.post(`${widgets}?dryRun=All`, probe)).code;
      succeeded(await subject.merge(`${widgets}/w`, { metadata: { labels: { l: 'x' } }, spec: { b: 'y' } }));
      const reply = await subject.merge(`${widgets}/w`, { spec: { a: 'longer' } });
      expect(causesOf(reply)).to.deep.equal(['spec.a: Too long: may not be more than 3 bytes']);
    });

    it('API-161: return stored objects by the current schema', async () => {
      await given(version({ a: text, b: text }));
      const before = succeeded(await subject.post(widgets, object({ a: 'x', b: 'y' }))).body;
      succeeded(
        await change(group, { versions: [version({ a: text, n: { type: 'integer', default: 5 } })] }),
      );
      const { body } = await subject.eventually(`${widgets}/w`, (r) => r.body?.spec?.n === 5);
      expect(body.spec).to.deep.equal({ a: 'x', n: 5 });
      expect(body.metadata.resourceVersion).to.equal(before.metadata.resourceVersion);
    });

    it('API-162: serve versions, warn about deprecated ones, and hide unserved ones', async () => {
      await given(
        version({ a: text }),
        version(
          { a: text, b: { ...text, default: 'q' } },
          { name: 'v1beta1', storage: false, deprecated: true },
        ),
        version({ a: text }, { name: 'v2', storage: false, served: false }),
      );
      succeeded(await subject.post(widgets, object({ a: 'x' })));
      const old = await subject.eventually(
        `${widgets.replace('/v1/', '/v1beta1/')}/w`,
        (r) => r.code === 200,
      );
      expect(old.body).to.deep.include({ apiVersion: `${group}/v1beta1`, spec: { a: 'x' } }); // defaults are those of the stored version
      expect(warningsOf(old)).to.deep.equal([
        `${group}/v1beta1 Widget is deprecated; use ${group}/v1 Widget`,
      ]);
      const hidden = await subject.get(`${widgets.replace('/v1/', '/v2/')}/w`);
      expect([hidden.code, hidden.text]).to.deep.equal([404, NOT_FOUND]);
    });

    it('API-163: select by fields of the version', async () => {
      await given(version({ a: text }, { selectableFields: [{ jsonPath: '.spec.a' }] }));
      succeeded(await subject.post(widgets, object({ a: 'x' })));
      const names = async (value: string): Promise<string[]> =>
        succeeded(await subject.get(`${widgets}?fieldSelector=spec.a%3D${value}`)).body.items.map(
          (item: Json) => item.metadata.name as string,
        );
      expect(await names('x')).to.deep.equal(['w']);
      expect(await names('y')).to.deep.equal([]);
      refused(
        await subject.get(`${widgets}?fieldSelector=spec.b%3Dx`),
        400,
        'field label not supported: spec.b',
      );
    });

    it('API-165: are deleted after their last instance', async () => {
      await given(version({ a: text }));
      const held = { ...object({ a: 'x' }), metadata: { name: 'w', finalizers: ['a.b/c'] } };
      succeeded(await subject.post(widgets, held));
      const path = `${CRDS}/widgets.${group}`;
      expect(succeeded(await subject.delete(path)).body.kind).to.equal('CustomResourceDefinition');
      const reason = 'InstanceDeletionInProgress';
      const { body } = await subject.eventually(
        path,
        (r) => conditionOf(r.body, 'Terminating')?.reason === reason,
      );
      expect(conditionOf(body, 'Terminating')).to.include({ status: 'True', reason });
      await subject.eventually(`${widgets}/w`, (r) => r.body?.metadata?.deletionTimestamp !== undefined);
      refused(
        await subject.post(widgets, { ...object({}), metadata: { name: 'w2' } }),
        403,
        `widgets.${group} "w2" is forbidden: create not allowed while custom resource definition is terminating`,
      );
      succeeded(await subject.merge(`${widgets}/w`, { spec: { a: 'y' } }));
      succeeded(await subject.merge(`${widgets}/w`, { metadata: { finalizers: null } }));
      expect((await subject.eventually(path, (r) => r.code === 404)).code).to.equal(404);
      const gone = await subject.eventually(widgets, (r) => r.code === 404);
      expect(gone.text).to.equal(NOT_FOUND);
    });
  });
});
