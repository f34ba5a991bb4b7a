/** Validates a deploy item, and changes of it. */
import type { View } from '../../lib/objects.ts';
import { TYPE_IS_IMMUTABLE, type DeployItem } from '../kinds/deployitem.ts';
import { forbidden, required, type FieldError } from './fields.ts';

export function deployItemProblems({ spec: { type, target } }: View<DeployItem>): readonly FieldError[] {
  return [
    ...(type === '' ? [required('spec.type', 'type must not be empty')] : []),
    ...(target?.name === '' ? [required('spec.target.name', 'target name must not be empty')] : []),
  ];
}

/**
 * Controllers look for the target in the namespace of the item, whatever the reference says, and users omit it. So
 * only the webhook checks this.
 */
export const targetWithoutNamespace = ({ spec: { target } }: View<DeployItem>): readonly FieldError[] =>
  target && !target.namespace
    ? [required('spec.target.namespace', 'target namespace must not be empty')]
    : [];

/**
 * With another type, the deployer would no longer know what to uninstall. The path begins with a dot, as upstream's
 * does.
 */
export const typeChange = (old: View<DeployItem>, now: View<DeployItem>): FieldError | undefined =>
  old.spec.type === now.spec.type ? undefined : forbidden('.spec.type', TYPE_IS_IMMUTABLE);
