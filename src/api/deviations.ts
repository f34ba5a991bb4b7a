/** Where we differ from upstream on purpose: one entry each, with the decision record that tells the whole story. */

export interface Deviation {
  /** Short name, unique; tests and recordings that differ refer to it. */
  readonly id: string;
  readonly upstream: string;
  readonly here: string;
  /** File below docs/adr, without its ending. */
  readonly adr: string;
}

export const deviations: readonly Deviation[] = [
  {
    id: 'unknown-fields-are-kept',
    upstream: 'Full updates drop fields that the running version does not know.',
    here: 'Writes are patches of what changes, and readers keep what they do not know.',
    adr: '0010-keep-unknown-fields',
  },
  {
    id: 'deploy-item-type-is-immutable-in-the-schema',
    upstream: 'Only the admission webhook refuses to change spec.type of a deploy item.',
    here: 'The schema refuses it too, so the rule holds while no webhook answers.',
    adr: '0011-rules-in-the-schema',
  },
  {
    id: 'successors-start-on-success',
    upstream:
      'The end of a root starts the roots that import from it, also after a failure and when they wait for it already.',
    here: 'Only success starts successors, and those that wait are not started twice.',
    adr: '0007-only-success-starts-successors',
  },
  {
    id: 'missing-counts-as-failed',
    upstream: 'An execution that vanished is waited for for ever, a child that vanished is ignored.',
    here: 'Both fail the job with a sentence that names them.',
    adr: '0008-what-vanishes-counts-as-failed',
  },
  {
    id: 'deleted-by-hand-is-made-anew',
    upstream: 'A child or execution that somebody deleted fails every later job.',
    here: 'It is uninstalled to the end within the next job and made anew in the same job.',
    adr: '0008-what-vanishes-counts-as-failed',
  },
  {
    id: 'deletion-is-no-change',
    upstream:
      'A root deleted while its job runs ends that job as failed, because the deletion raises the generation.',
    here: 'The job ends as its work ended; then the deletion starts.',
    adr: '0008-what-vanishes-counts-as-failed',
  },
  {
    id: 'waits-are-event-driven',
    upstream: 'Waiting phases are repeated every 10 ms, with an event each time.',
    here: 'An event ends a wait; failures are repeated at growing intervals.',
    adr: '0006-waiting-is-driven-by-events',
  },
  {
    id: 'causes-travel-up',
    upstream: 'Messages of parents only say that something below failed.',
    here: "Upstream's sentence is followed by the causes from below.",
    adr: '0009-causes-travel-up',
  },
  {
    id: 'target-sync-keeps-to-its-own',
    upstream: 'The target sync overwrites and deletes objects of others that have the right name.',
    here: 'Only labelled objects are touched; the status names what is in the way.',
    adr: '0013-target-sync-keeps-to-its-own',
  },
  {
    id: 'one-target-sync-does-not-undo-another',
    upstream: 'Deleting one of two TargetSyncs of a namespace deletes the objects of the other.',
    here: 'They stay, and the other takes care of them.',
    adr: '0013-target-sync-keeps-to-its-own',
  },
  {
    id: 'tokens-are-rotated-when-due',
    upstream: 'The token for a source cluster is rotated in every pass.',
    here: 'It is rotated every 60 days and when asked for; the status says when.',
    adr: '0013-target-sync-keeps-to-its-own',
  },
  {
    id: 'no-shoots-is-no-answer',
    upstream: 'A source cluster that serves no shoots counts as one whose shoots are gone.',
    here: 'It cannot tell, so items are uninstalled as usual.',
    adr: '0013-target-sync-keeps-to-its-own',
  },
  {
    id: 'one-verdict-with-and-without-webhooks',
    upstream:
      'Only webhooks refuse what breaks the rules; without them controllers work with it, or fail late.',
    here: 'Controllers and deployers end the job with the sentence of the webhook.',
    adr: '0018-one-verdict',
  },
  {
    id: 'webhooks-accept-what-controllers-write',
    upstream:
      'Webhooks refuse the empty component descriptor of children, and hold up the end of what was wrong before.',
    here: 'An empty component descriptor counts as none, and what is being deleted is let go.',
    adr: '0018-one-verdict',
  },
  {
    id: 'denials-repeat-no-structures',
    upstream: 'A denial repeats the whole of what is wrong, such as the credentials of a target.',
    here: 'It names the field, and repeats only texts.',
    adr: '0018-one-verdict',
  },
  {
    id: 'waits-can-be-ended',
    upstream:
      'Waits in Init and InitDelete take no notice of interrupts and deletions; roots in a circle wait for ever.',
    here: 'An interrupt or a deletion ends the wait, and roots in a circle fail at once.',
    adr: '0014-every-wait-can-be-ended',
  },
  {
    id: 'labels-follow-the-template',
    upstream: 'Labels that a template gives no more stay on the deploy item.',
    here: 'They are removed; an annotation of ours keeps which ones came from the template.',
    adr: '0017-nothing-is-left-behind',
  },
  {
    id: 'complaints-are-taken-back',
    upstream: 'The condition ReconcileExecution stays False when there are no deploy items any more.',
    here: 'The next job that succeeds turns it to True.',
    adr: '0017-nothing-is-left-behind',
  },
  {
    id: 'targets-made-anew-are-noticed',
    upstream: 'A target that was deleted and made anew during a job passes for the old one.',
    here: 'The job fails with CheckImportsHash if it says something else.',
    adr: '0017-nothing-is-left-behind',
  },
  {
    id: 'owners-tell-roots',
    upstream:
      'An installation with the label encompassed-by and no owner is a root that other roots do not see.',
    here: 'It is a root for everybody.',
    adr: '0017-nothing-is-left-behind',
  },
  {
    id: 'verification-is-inherited',
    upstream: 'Sub-installations do not inherit spec.verification.',
    here: 'They do.',
    adr: '0017-nothing-is-left-behind',
  },
  {
    id: 'no-retries-without-a-pause',
    upstream: 'An interval of none in automaticReconcile repeats jobs without a pause.',
    here: 'An interval below a second names no time: nothing is repeated.',
    adr: '0017-nothing-is-left-behind',
  },
  {
    id: 'registries-are-asked-again',
    upstream: 'A registry that cannot be reached, or is busy, fails the job at once.',
    here: 'The installation shows it and tries again, at growing intervals, until it is deleted or interrupted.',
    adr: '0019-components',
  },
  {
    id: 'inline-descriptors-of-both-forms',
    upstream:
      'Inline descriptors of the form v3alpha1 are emptied, and nested ones are found only below a labelled root.',
    here: 'Both forms are read, and every reference that carries a descriptor in its label is followed to it.',
    adr: '0019-components',
  },
  {
    id: 'templates-see-overwritten-components',
    upstream: 'getComponent fails for a reference whose version was overwritten.',
    here: 'It answers the component that takes its place.',
    adr: '0019-components',
  },
  {
    id: 'all-layers-of-a-blueprint',
    upstream: 'Of a blueprint in an OCI artifact only the first layer is read.',
    here: 'All are read, later ones win; archives that lead out of their folder or are too large are refused.',
    adr: '0019-components',
  },
  {
    id: 'spiff-has-no-way-to-the-host',
    upstream: 'Mappings may run commands and read files of the controller, executions read its environment.',
    here: 'Executions see the files of the blueprint, mappings none; there are no processes and no environment.',
    adr: '0020-spiff',
  },
  {
    id: 'spiff-keeps-dates-and-characters',
    upstream:
      'Spiff turns plain dates into other texts, and fails for some characters in values and for most in expressions.',
    here: 'Both stay as they are written.',
    adr: '0020-spiff',
  },
];
