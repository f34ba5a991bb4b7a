/** A ConfigMap for each member of a Team: many objects of one kind, with a custom comparison. */
import { ConfigMap, type Kind, type Manager, type Obj } from 'espalier/runtime';
import { addWorkflowController, isGone, kubernetesBulk } from 'espalier/workflow';

export interface Team extends Obj {
  spec: { members: string[] };
  status?: { desks: number };
}

export const teams: Kind<Team> = {
  group: 'people.example.org',
  version: 'v1',
  kind: 'Team',
  plural: 'teams',
  namespaced: true,
};

const labels = { 'app.kubernetes.io/managed-by': 'team-operator' };

const desks = kubernetesBulk<ConfigMap, Team>({
  kind: ConfigMap,
  name: 'desks',
  selector: 'app.kubernetes.io/managed-by=team-operator',
  gc: false,
  idOf: (desk) => desk.data?.['member'],
  desiredAll: ({ metadata, spec }) =>
    new Map(
      spec.members.map((member) => {
        const name = `${metadata.name}-${member}`;
        return [member, { metadata: { name, labels }, data: { member, note: 'welcome' } }];
      }),
    ),
  // Members may change the note after the desk is created.
  match: { metadata: 'subset', ignore: ['/data/note'] },
});

/** Adds the team controller to a manager. */
export const addTeams = (manager: Manager) =>
  addWorkflowController<Team>(manager, {
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
