/** A ConfigMap for each member of a Team: many objects of one kind, with a comparison of its own. */
import type { Kind, Manager, Obj } from 'espalier/runtime';
import { addOperator, isGone, kubernetesBulk } from 'espalier/workflow';

export interface Team extends Obj {
  spec: { members: string[] };
  status?: { desks: number };
}

export interface Desk extends Obj {
  data?: { member?: string; note?: string };
}

export const teams: Kind<Team> = {
  ...{ group: 'people.example.org', version: 'v1', kind: 'Team', plural: 'teams', namespaced: true },
};
export const configMaps: Kind<Desk> = {
  ...{ group: '', version: 'v1', kind: 'ConfigMap', plural: 'configmaps', namespaced: true },
};

const labels = { 'app.kubernetes.io/managed-by': 'team-operator' };

const desks = kubernetesBulk<Desk, Team>({
  kind: configMaps,
  name: 'desks',
  selector: 'app.kubernetes.io/managed-by=team-operator',
  gc: false,
  idOf: (desk) => desk.data?.member,
  desiredAll: ({ metadata, spec }) =>
    new Map(
      spec.members.map((member) => {
        const name = `${metadata.name}-${member}`;
        return [member, { metadata: { name, labels }, data: { member, note: 'welcome' } }];
      }),
    ),
  // We only write the first note; members may change it.
  match: { metadata: 'subset', ignore: ['/data/note'] },
});

/** Adds the team controller to a manager. */
export const addTeams = (manager: Manager) =>
  addOperator<Team>(manager, {
    name: 'teams',
    kind: teams,
    workflow: { nodes: [{ use: desks, deleted: isGone }] },
    reconciler: {
      async reconcile({ spec }, ctx) {
        const object = ctx.draft();
        object.status = { desks: spec.members.length };
        return { write: 'status', object };
      },
    },
  });
