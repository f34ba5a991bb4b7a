/** The rules for a deploy item, by itself and compared with what it was. */
import type { View } from '../../lib/objects.ts';
import type { DeployItem } from '../kinds/deployitem.ts';
import { forbidden, required, type FieldError } from './fields.ts';

export function deployItemProblems({ spec: { type, target } }: View<DeployItem>): readonly FieldError[] {
  return [
    ...(type === '' ? [required('spec.type', 'type must not be empty')] : []),
    ...(target?.name === '' ? [required('spec.target.name', 'target name must not be empty')] : []),
  ];
}

/**
 * Controllers look for the target where the item is, whatever namespace it names or does not name, and people who write
 * items by hand leave it out. So this is asked at the door only.
 */
export const targetWithoutNamespace = ({ spec: { target } }: View<DeployItem>): readonly FieldError[] =>
  target && !target.namespace
    ? [required('spec.target.namespace', 'target namespace must not be empty')]
    : [];

/** Its deployer would not know any more what it has to uninstall. The path begins with a dot, as upstream's does. */
export const typeChange = (old: View<DeployItem>, now: View<DeployItem>): FieldError | undefined =>
  old.spec.type === now.spec.type ? undefined : forbidden('.spec.type', 'type is immutable');
