/** Deploy items with objects on clusters to which their targets no longer lead. Pure. */
import { shownTargetName } from '../../api/target-name.ts';
import { describeLeftBehind, leftBehindIn, leftBehindWayOut } from '../../api/left-behind.ts';
import { joinKey, keyOf } from '../../runtime/keys.ts';
import { selfCommand } from '../self-command.ts';
import { nameOf, type Findable, type Finding } from './findable.ts';

export const leftBehind = ({ deployItems, data }: Findable): readonly Finding[] =>
  deployItems.flatMap((item) => {
    const entries = leftBehindIn(item.status);
    if (entries.length === 0) return [];
    const { name, namespace = '' } = item.metadata;
    const key = joinKey(namespace, item.spec.target?.name ?? '');
    const target = data.find((one) => one.kind === 'Target' && keyOf(one) === key);
    return {
      check: 'left-behind',
      object: nameOf(item),
      evidence: describeLeftBehind(entries),
      risk: `none; the command only lists the objects. The ways out: ${leftBehindWayOut({ name, namespace, target: target ? shownTargetName(target.metadata) : item.spec.target?.name }, 'next job', selfCommand())}`,
      command: `${selfCommand()} deployitems left-behind list ${name} -n ${namespace}`,
    };
  });
