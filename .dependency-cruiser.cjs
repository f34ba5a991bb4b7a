// Who may import whom. `make check` runs these rules, and hack/check-imports.ts proves that each of them can fail.
const rule = (name, comment, from, to) => ({ name, comment, severity: 'error', from, to });
const layer = (name, below) =>
  rule(
    `layer-${name.replaceAll('/', '-')}`,
    `src/${name} stands on ${below.join(', ') || 'nothing'}`,
    { path: `^src/${name}/` },
    { path: '^src/', pathNot: `^src/(${[name, ...below].join('|')})/` },
  );

module.exports = {
  forbidden: [
    rule(
      'src-is-a-library',
      'controllers and deployers stand on src; only the command line may wire them',
      { path: '^src/(?!cli/)' },
      { path: '^(controllers|deployers)/' },
    ),
    rule(
      'runtime-knows-no-landscaper',
      'the runtime is usable by itself',
      { path: '^src/(runtime|workflow|observability|lib)/' },
      { path: '^src/(api|machine|landscape|dataflow|blueprint|components|templating)/' },
    ),
    rule(
      'phases-are-pure',
      'phases and rules decide from values: no client, no clock, no log, no chance',
      { path: '^controllers/[^/]+/(phases/|intake|decide|classify)' },
      {
        path: '^src/(runtime/(?!types\\.ts)|observability|machine/(apply|run)\\.ts)',
        dependencyTypesNot: ['type-only'],
      },
    ),
    rule(
      'phases-take-no-packages',
      'nothing from Node or npm is needed to decide',
      { path: '^controllers/[^/]+/(phases/|intake|decide|classify)' },
      { dependencyTypes: ['core', 'npm', 'npm-dev'] },
    ),
    rule(
      'domain-takes-no-client',
      'what blueprints and data mean is worked out without a cluster',
      { path: '^src/(api|templating|components|blueprint|dataflow)/' },
      { path: '^src/(runtime|machine|landscape)/' },
    ),
    rule(
      'controllers-are-strangers',
      'controllers meet on the wire only',
      { path: '^controllers/([^/]+)/' },
      { path: '^controllers/', pathNot: '^controllers/$1/' },
    ),
    rule(
      'deployers-meet-in-the-sdk',
      'a deployer knows itself, the SDK, and the engine for objects of Kubernetes',
      { path: '^deployers/([^/]+)/' },
      { path: '^(deployers|controllers)/', pathNot: '^deployers/($1|sdk|objects)/' },
    ),
    rule(
      'sdk-is-a-contract',
      'a deployer may have nothing to do with objects of Kubernetes',
      { path: '^deployers/sdk/' },
      { path: '^deployers/', pathNot: '^deployers/sdk/', dependencyTypesNot: ['type-only'] },
    ),
    rule(
      'client-node-in-one-place',
      'one file touches the official client, so that replacing it stays cheap',
      { path: '^(src|controllers|deployers)/', pathNot: '^src/runtime/transport/client-node\\.ts$' },
      { path: 'node_modules/@kubernetes/client-node', dependencyTypesNot: ['type-only'] },
    ),
    rule(
      'runtime-is-light',
      'an idle operator has no web framework, validator or template engine in its memory',
      { path: '^src/(lib|observability|runtime|workflow)/', pathNot: '^src/lib/crd/' },
      {
        path: 'node_modules/(fastify|ajv|ajv-formats|bcryptjs|commander|handlebars|re2js|smol-toml|zod)/',
        dependencyTypesNot: ['type-only'],
      },
    ),
    rule(
      'no-cycles',
      'a circle of files is one file in disguise',
      {},
      { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
    ),
    rule(
      'test-kit-only-in-tests',
      'the product does not load what simulates a cluster',
      { path: '^(src|controllers|deployers)/', pathNot: '^src/testing/' },
      { path: '^src/testing/' },
    ),
    layer('lib', []),
    layer('observability', ['lib']),
    layer('apiserver', ['lib', 'observability']),
    layer('api', ['lib']),
    layer('templating', ['lib', 'api']),
    layer('components', ['lib', 'api']),
    layer('blueprint', ['lib', 'api', 'templating', 'components']),
    layer('dataflow', ['lib', 'api', 'templating', 'components', 'blueprint']),
    layer('runtime', ['lib', 'observability']),
    layer('workflow', ['lib', 'observability', 'runtime']),
    layer('testing', ['lib', 'observability', 'apiserver', 'runtime']),
    layer('webhooks', ['lib', 'observability', 'runtime', 'api']),
    layer('machine', ['lib', 'observability', 'runtime', 'workflow', 'api']),
    layer('landscape', ['lib', 'observability', 'runtime', 'workflow', 'api', 'machine']),
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'node', 'default'] },
  },
};
