/**
 * The fields that upstream's CRDs of installations, executions and deploy items define, written independently of
 * ours: upstream's API server would drop any other field, and reject an object without a required one.
 */

type Shape =
  | 'text'
  | 'time'
  | 'whole number'
  | 'flag'
  | 'anything'
  /** An object with apiVersion and kind, and any other fields. */
  | 'embedded'
  | { readonly list: Shape }
  | { readonly map: Shape }
  | Fields;
interface Fields {
  readonly required: Readonly<Record<string, Shape>>;
  readonly optional: Readonly<Record<string, Shape>>;
}

const fields = (required: Fields['required'], optional: Fields['optional'] = {}): Fields => ({
  required,
  optional,
});
const all = (shape: Shape, ...names: readonly string[]): Record<string, Shape> =>
  Object.fromEntries(names.map((name) => [name, shape]));
const list = (shape: Shape): Shape => ({ list: shape });

const stamps = all('time', 'lastTransitionTime', 'lastUpdateTime');
const reference = fields({ name: 'text' }, { namespace: 'text' });
const error = fields(
  { ...all('text', 'operation', 'reason', 'message'), ...stamps },
  { codes: list('text') },
);
/** Upstream's API server drops `observedGeneration`; nothing but clients of users reads it. */
const condition = fields(
  { ...all('text', 'type', 'status', 'reason', 'message'), ...stamps },
  { codes: list('text'), observedGeneration: 'whole number' },
);
const pair = fields({}, all('text', 'specName', 'objectName'));
const job = {
  ...all('text', 'jobID', 'jobIDFinished', 'phase'),
  conditions: list(condition),
  lastError: error,
  transitionTimes: fields({}, all('time', 'triggerTime', 'initTime', 'waitTime', 'finishedTime')),
};
const onDelete = fields({}, { skipUninstallIfClusterRemoved: 'flag' });
const keyed = fields({ name: 'text' }, { key: 'text' });
const repeat = all('text', 'interval', 'cronSpec');

const shapes: Readonly<Record<string, Fields>> = {
  Installation: fields(
    {
      spec: fields(
        {
          blueprint: fields(
            {},
            { inline: fields({ filesystem: 'anything' }), ref: fields({ resourceName: 'text' }) },
          ),
        },
        {
          context: 'text',
          automaticReconcile: fields(
            {},
            {
              succeededReconcile: fields({}, repeat),
              failedReconcile: fields({}, { ...repeat, numberOfReconciles: 'whole number' }),
            },
          ),
          componentDescriptor: fields(
            {},
            {
              inline: 'anything',
              ref: fields(all('text', 'componentName', 'version'), { repositoryContext: 'anything' }),
            },
          ),
          ...all('anything', 'importDataMappings', 'exportDataMappings'),
          imports: fields(
            {},
            {
              data: list(
                fields(
                  { name: 'text' },
                  { ...all('text', 'dataRef', 'version'), ...all(keyed, 'secretRef', 'configMapRef') },
                ),
              ),
              targets: list(
                fields(
                  { name: 'text' },
                  {
                    ...all('text', 'target', 'targetListRef', 'targetMapRef'),
                    targets: list('text'),
                    targetMap: { map: 'text' } as const,
                  },
                ),
              ),
            },
          ),
          exports: fields(
            {},
            {
              data: list(fields(all('text', 'name', 'dataRef'))),
              targets: list(fields({ name: 'text' }, { target: 'text' })),
            },
          ),
          optimization: fields({}, all('flag', 'hasNoSiblingImports', 'hasNoSiblingExports')),
          verification: fields({ signatureName: 'text' }),
        },
      ),
    },
    {
      status: fields(
        { observedGeneration: 'whole number' },
        {
          ...job,
          phaseTransitionTime: 'time',
          importsHash: 'text',
          executionRef: reference,
          subInstCache: fields({}, { activeSubs: list(pair), orphanedSubs: list('text') }),
          dependentsToTrigger: list(fields({}, { name: 'text' })),
          automaticReconcileStatus: fields(
            {},
            {
              ...all('whole number', 'generation', 'numberOfReconciles'),
              lastReconcileTime: 'time',
              onFailed: 'flag',
            },
          ),
        },
      ),
    },
  ),
  Execution: fields(
    { spec: fields({}, { context: 'text', deployItems: 'anything', deployItemsCompressed: 'text' }) },
    {
      status: fields(
        {},
        {
          ...job,
          observedGeneration: 'whole number',
          phaseTransitionTime: 'time',
          exportRef: reference,
          deployItemCache: fields({}, { activeDIs: list(pair), orphanedDIs: list('text') }),
        },
      ),
    },
  ),
  DeployItem: fields(
    {
      spec: fields(
        { type: 'text' },
        {
          config: 'embedded',
          context: 'text',
          timeout: 'text',
          updateOnChangeOnly: 'flag',
          target: reference,
          onDelete,
        },
      ),
    },
    {
      status: fields(
        { observedGeneration: 'whole number' },
        {
          ...job,
          firstError: error,
          lastErrors: list(error),
          exportRef: reference,
          ...all('time', 'lastReconcileTime', 'jobIDGenerationTime'),
          deployer: fields(all('text', 'identity', 'name', 'version')),
          providerStatus: 'embedded',
          deployItemPhase: 'text',
        },
      ),
    },
  ),
};

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;

/**
 * What upstream's API server would reject or drop in an object, each with its path; nothing is known about other
 * kinds.
 */
export function strangeTo(object: { readonly kind?: string }): string[] {
  const shape = shapes[object.kind ?? ''];
  if (!shape) return [];
  const { required, optional } = shape;
  const meta = all('anything', 'apiVersion', 'kind', 'metadata');
  return mistakes(object, { required, optional: { ...optional, ...meta } }, '');
}

function mistakes(value: unknown, shape: Shape, path: string): string[] {
  const unless = (isFine: boolean): string[] =>
    isFine ? [] : [`${path} is no ${typeof shape === 'string' ? shape : 'object or list'}`];
  switch (shape) {
    case 'anything':
      return [];
    case 'text':
      return unless(typeof value === 'string');
    case 'time':
      return unless(typeof value === 'string' && TIME.test(value));
    case 'whole number':
      return unless(Number.isInteger(value));
    case 'flag':
      return unless(typeof value === 'boolean');
    case 'embedded':
      return unless(isRecord(value) && Boolean(value['apiVersion']) && Boolean(value['kind']));
  }
  if ('list' in shape)
    return Array.isArray(value)
      ? value.flatMap((each, i) => mistakes(each, shape.list, `${path}[${i}]`))
      : unless(false);
  if (!isRecord(value)) return unless(false);
  const below = (name: string): string => (path === '' ? name : `${path}.${name}`);
  if ('map' in shape)
    return Object.entries(value).flatMap(([key, each]) => mistakes(each, shape.map, below(key)));
  const missing = Object.keys(shape.required).filter((name) => value[name] === undefined);
  return [
    ...missing.map((name) => `${below(name)} is missing`),
    ...Object.entries(value).flatMap(([name, each]) => {
      const known = shape.required[name] ?? shape.optional[name];
      return known === undefined ? [`${below(name)} is unknown`] : mistakes(each, known, below(name));
    }),
  ];
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
