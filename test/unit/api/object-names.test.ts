/** Every string in a spec is validated as the name of an object, or is in the list of those that name no object. */
import { expect } from 'chai';
import type { z } from 'zod';
import { definitions } from '../../../src/api/kinds.ts';

/** The parts of a zod schema that contain other schemas. */
interface Def {
  readonly type: string;
  readonly shape?: Readonly<Record<string, z.core.$ZodType>>;
  readonly innerType?: z.core.$ZodType;
  readonly element?: z.core.$ZodType;
  readonly valueType?: z.core.$ZodType;
}

/** Paths of strings, with `[]` for elements and `{}` for values, and whether `../x` is rejected there. */
function textsIn(schema: z.core.$ZodType, path: string): readonly (readonly [string, boolean])[] {
  const def = schema._zod.def as unknown as Def;
  if (def.shape) return Object.entries(def.shape).flatMap(([key, inner]) => textsIn(inner, `${path}.${key}`));
  if (def.element) return textsIn(def.element, `${path}[]`);
  if (def.valueType) return textsIn(def.valueType, `${path}{}`);
  if (def.innerType) return textsIn(def.innerType, path);
  return def.type === 'string' ? [[path, !(schema as z.ZodType).safeParse('../x').success]] : [];
}

/** Strings that name no object, or do so only in a root, where a separate rule checks them. */
const others: Readonly<Record<string, readonly string[]>> = {
  'names within a blueprint': [
    'Installation.spec.imports.data[].name',
    'Installation.spec.imports.targets[].name',
    'Installation.spec.imports.targets[].targetListRef',
    'Installation.spec.imports.targets[].targetMapRef',
    'Installation.spec.exports.data[].name',
    'Installation.spec.exports.targets[].name',
    'Execution.spec.deployItems[].name',
    'Execution.spec.deployItems[].dependsOn[]',
  ],
  'hashed in the scope of a parent, checked in a root': [
    'Installation.spec.imports.data[].dataRef',
    'Installation.spec.imports.targets[].target',
    'Installation.spec.imports.targets[].targets[]',
    'Installation.spec.imports.targets[].targetMap{}',
    'Installation.spec.exports.data[].dataRef',
    'Installation.spec.exports.targets[].target',
  ],
  'checked by the rules for templates of items, also those of a blueprint': [
    'Execution.spec.deployItems[].target.name',
    'Execution.spec.deployItems[].target.namespace',
  ],
  'components, their versions and resources': [
    'Installation.spec.componentDescriptor.ref.componentName',
    'Installation.spec.componentDescriptor.ref.version',
    'Installation.spec.blueprint.ref.resourceName',
    'ComponentVersionOverwrites.overwrites[].source.componentName',
    'ComponentVersionOverwrites.overwrites[].source.version',
    'ComponentVersionOverwrites.overwrites[].substitution.componentName',
    'ComponentVersionOverwrites.overwrites[].substitution.version',
  ],
  'keys within an object, types and labels': [
    'Installation.spec.verification.signatureName',
    'Installation.spec.imports.data[].secretRef.key',
    'Installation.spec.imports.data[].configMapRef.key',
    'Execution.spec.deployItems[].type',
    'Execution.spec.deployItems[].labels{}',
    'DeployItem.spec.type',
    'Target.spec.type',
    'Target.spec.secretRef.key',
    'Context.verificationSignatures{}.publicKeySecretReference.key',
    'Context.verificationSignatures{}.caCertificateSecretReference.key',
    'TargetSync.spec.secretRef.key',
  ],
  'other texts': [
    'Installation.spec.imports.data[].version',
    'Installation.spec.automaticReconcile.succeededReconcile.cronSpec',
    'Installation.spec.automaticReconcile.failedReconcile.cronSpec',
    'Execution.spec.deployItemsCompressed',
    'TargetSync.spec.secretNameExpression',
    'TargetSync.spec.shootNameExpression',
  ],
  'written by programs': [
    'LsHealthCheck.lastUpdateTime',
    'LsHealthCheck.description',
    'CriticalProblems.spec.criticalProblem[].podName',
    'CriticalProblems.spec.criticalProblem[].creationTime',
    'CriticalProblems.spec.criticalProblem[].description',
    'SyncObject.spec.podName',
    'SyncObject.spec.name',
    'SyncObject.spec.lastUpdateTime',
    'SyncObject.spec.prefix',
  ],
};

describe('a string in the spec of an object', () => {
  // Records of jobs are written by controllers, which read no object that a record names.
  const found = definitions
    .filter(({ kind }) => kind.kind !== 'JobRecord')
    .flatMap(({ kind, schema }) => textsIn(schema, kind.kind))
    .filter(([path]) => !/\.(status|metadata)\b|\.(apiVersion|kind)$/.test(path));

  it('is rejected if it is a path, or is known not to name an object', () => {
    const unchecked = found.filter(([, isChecked]) => !isChecked).map(([path]) => path);
    expect(unchecked).to.have.members(Object.values(others).flat());
  });

  it('is rejected if it is a path wherever it names an object', () => {
    const checked = found.filter(([, isChecked]) => isChecked).map(([path]) => path);
    expect(checked).to.include.members([
      'Installation.spec.context',
      'DeployItem.spec.target.name',
      'Target.spec.secretRef.name',
      'Context.registryPullSecrets[].name',
      'Context.ocmConfig.name',
      'Context.componentVersionOverwrites',
      'Context.verificationSignatures{}.publicKeySecretReference.name',
      'TargetSync.spec.secretRef.name',
      'TargetSync.spec.sourceNamespace',
    ]);
  });
});
