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
    id: 'digests-are-always-compared',
    upstream: 'Digests in descriptors are compared only where a signature is verified.',
    here: 'They are compared whenever a content is read or a reference followed, as far as they can be computed.',
    adr: '0019-components',
  },
  {
    id: 'a-signature-is-checked-without-fetching-everything',
    upstream: 'To verify a signature, all contents of all components below are fetched, images as well.',
    here: 'The descriptor and those it refers to are checked at once, each content when it is read. Descriptors must hold the digests.',
    adr: '0019-components',
  },
  {
    id: 'registries-are-asked-again',
    upstream: 'A registry that cannot be reached, or is busy, fails the job at once.',
    here: 'The installation shows it and tries again, at growing intervals, for ten minutes (limits.remoteRetryTimeout); then its job fails.',
    adr: '0019-components',
  },
  {
    id: 'definite-connection-failures-end-items',
    upstream:
      'A deploy item whose chart repository or cluster is misspelt or not trusted is tried again until its time is used up.',
    here: 'It fails at once, and after a minute in which the name of the server is not found.',
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
    id: 'deletion-needs-no-context',
    upstream: 'A deploy item whose Context is gone cannot be uninstalled.',
    here: 'It is uninstalled without one.',
    adr: '0041-namespaces-can-be-deleted',
  },
  {
    id: 'what-was-never-taken-up-is-not-uninstalled',
    upstream:
      'The deletion of a deploy item that no deployer has ever taken up fails after the pickup timeout, or without its target.',
    here: 'It is deleted at once, without a job.',
    adr: '0041-namespaces-can-be-deleted',
  },
  {
    id: 'objects-can-be-handed-over',
    upstream: 'An export takes over an object of a person without a word, and the next job deletes it.',
    here: 'It is refused, unless the object has the annotation espalier.dev/adoptable-by with the name of the installation.',
    adr: '0015-what-is-somebody-elses-stays',
  },
  {
    id: 'export-secrets-of-others-stay',
    upstream:
      'The exports of a deploy item are written into a secret of a person, which is deleted with the item.',
    here: 'The job fails and names the secret, unless the item owns it or names it in status.exportRef.',
    adr: '0015-what-is-somebody-elses-stays',
  },
  {
    id: 'shared-objects-stay',
    upstream:
      'Two deploy items manage one object of a cluster without a word, and the first that is deleted deletes it.',
    here: 'The condition SharedObjects of both names it, and it is deleted with the last item that manages it.',
    adr: '0040-shared-objects-stay-with-the-last',
  },
  {
    id: 'imports-do-not-overwrite-exports',
    upstream:
      'The copy of an import is written over whatever has its name, such as what a sub-installation exports.',
    here: 'The job fails and names both installations; what its exporter no longer exports becomes the import.',
    adr: '0015-what-is-somebody-elses-stays',
  },
  {
    id: 'blueprints-are-looked-through',
    upstream: 'The checks of a whole blueprint exist and are called nowhere.',
    here: 'What they find is told in the condition ValidateBlueprint; it ends no job.',
    adr: '0020-conditions-tell-what-phases-do-not',
  },
  {
    id: 'kubeconfigs-come-from-targets-of-the-namespace',
    upstream:
      'Kubeconfig functions of templates read secrets of any namespace that a target object names, fail for a moment of trouble for good, and their results appear in messages.',
    here: 'Secrets are read in the namespace of the installation, what may pass is tried again, and results are masked.',
    adr: '0027-kubeconfigs-for-templates',
  },
  {
    id: 'null-is-stored',
    upstream: 'An import or export that is null fails the job: the schema of DataObjects demands a value.',
    here: 'It is stored; where the schema of upstream is installed, the job fails and names it.',
    adr: '0023-values-arrive-as-they-were-given',
  },
  {
    id: 'large-integers-are-not-rounded',
    upstream: 'Integers beyond 2^53 in YAML and in data objects are rounded.',
    here: 'They are refused with their line, or their object and field; as text they arrive.',
    adr: '0023-values-arrive-as-they-were-given',
  },
  {
    id: 'blueprint-as-a-map-is-read',
    upstream:
      'A blueprint.yaml that is a map or a folder counts as an empty blueprint, so the job does nothing and succeeds.',
    here: 'A map is read as the blueprint it is; a folder is an error.',
    adr: '0023-values-arrive-as-they-were-given',
  },
  {
    id: 'mapped-exports-are-checked',
    upstream: 'Results of export mappings are not held to the schema of the export.',
    here: 'They are.',
    adr: '0023-values-arrive-as-they-were-given',
  },
  {
    id: 'exported-targets-have-known-fields',
    upstream: 'Fields of an exported target that nobody reads are ignored.',
    here: 'They fail the job, which names them.',
    adr: '0023-values-arrive-as-they-were-given',
  },
  {
    id: 'later-drafts-are-known',
    upstream:
      'Schemas that name draft 2019-09 or 2020-12 are read as older drafts, later keywords without effect.',
    here: 'They are read as the draft that they name.',
    adr: '0023-values-arrive-as-they-were-given',
  },
  {
    id: 'conditional-imports-below-targets',
    upstream:
      'Conditional imports below a target are demanded but never loaded; a targetMap knows no short targetType.',
    here: 'All kinds of imports are treated alike.',
    adr: '0023-values-arrive-as-they-were-given',
  },
  {
    id: 'literal-names-of-exports',
    upstream: 'An export whose name begins with # fails, since it makes no label.',
    here: 'It is stored under that name; the label does without the #.',
    adr: '0023-values-arrive-as-they-were-given',
  },
  {
    id: 'numbers-are-files',
    upstream:
      'A number or boolean in the file tree of a blueprint is a file with a formatting error as content.',
    here: 'It is a file with that number or boolean.',
    adr: '0023-values-arrive-as-they-were-given',
  },
  {
    id: 'items-can-be-interrupted',
    upstream: 'operation: interrupt on a deploy item has no effect and stays there.',
    here: 'It ends the job of that item as failed, and goes.',
    adr: '0014-every-wait-can-be-ended',
  },
  {
    id: 'waits-are-conditions',
    upstream:
      'A wait is a lastError that names one of those waited for; an item nobody serves waits in silence.',
    here: 'The condition Waiting names all of them, and says after ten seconds which type nobody serves.',
    adr: '0020-conditions-tell-what-phases-do-not',
  },
  {
    id: 'drift-is-told-upwards',
    upstream: 'An item that fails after its job is reflected nowhere above.',
    here: 'The condition Drifted carries it up to the root until it is over.',
    adr: '0020-conditions-tell-what-phases-do-not',
  },
  {
    id: 'resting-retries-say-so',
    upstream: 'A change of the spec ends automatic retries without a word.',
    here: 'It ends them with the condition AutomaticReconcile and an event.',
    adr: '0020-conditions-tell-what-phases-do-not',
  },
  {
    id: 'removed-exports-are-not-claimed',
    upstream: 'The condition CreateExports stays True when a later job fails.',
    here: 'It turns to False when the job has removed the exports.',
    adr: '0020-conditions-tell-what-phases-do-not',
  },
  {
    id: 'roots-can-be-held-back',
    upstream: 'The annotation ignore has no effect.',
    here: 'An annotation of ours suspends a root; ignore is answered by an event.',
    adr: '0021-jobs-that-are-held-back',
  },
  {
    id: 'unchanged-imports-start-nobody-if-asked',
    upstream: 'The success of a root starts all that import from it.',
    here: 'So it does here, except for those whose annotation asks for it only after a change of their imports.',
    adr: '0021-jobs-that-are-held-back',
  },
  {
    id: 'templates-see-the-target',
    upstream: 'Charts without a release are rendered for Kubernetes 1.20, whatever the target is.',
    here: 'They see version and kinds of the target; helm.staticCapabilities brings the old way back.',
    adr: '0025-charts',
  },
  {
    id: 'subcharts-by-condition-in-both-modes',
    upstream: 'Conditions, tags and imported values of subcharts count in releases only.',
    here: 'They count in both modes.',
    adr: '0025-charts',
  },
  {
    id: 'chart-tests-are-not-applied',
    upstream: 'Objects that belong to helm test are applied with all others.',
    here: 'They are left out; other hooks are applied.',
    adr: '0025-charts',
  },
  {
    id: 'documents-of-charts-are-read',
    upstream: 'A document of a chart that is no YAML is left out without a word.',
    here: 'The job ends with a sentence that names the template.',
    adr: '0025-charts',
  },
  {
    id: 'namespaces-of-charts-stay',
    upstream:
      'A namespace made for a chart without a release is replaced when it is there, and deleted with the item.',
    here: 'It keeps what others wrote into it, and stays.',
    adr: '0025-charts',
  },
  {
    id: 'one-revision-per-change',
    upstream: 'Every job makes a revision of its release, five within a second when helm fails.',
    here: 'A job that finds nothing changed makes none; after a failure the next attempt comes after five seconds.',
    adr: '0025-charts',
  },
  {
    id: 'releases-are-not-forgotten',
    upstream: 'A renamed release stays for ever, and so does one whose item lost its status.',
    here: 'The status names the release; the old one is uninstalled, and deletion goes by name.',
    adr: '0025-charts',
  },
  {
    id: 'helm-mistakes-end-the-job',
    upstream:
      'An unknown update strategy is accepted; a broken archive or a reference without tag is repeated until the timeout.',
    here: 'All of them end the job at once, as mistakes of the configuration.',
    adr: '0025-charts',
  },
  {
    id: 'deletions-run-the-image',
    upstream: 'The deletion of a container item starts no pod, so the image never cleans up.',
    here: 'The image runs with OPERATION=DELETE, as documented; the item goes when it has ended well.',
    adr: '0028-containers',
  },
  {
    id: 'container-failures-have-words',
    upstream: 'A container item whose pod failed has no error.',
    here: 'Its error names the container, the exit code and the end of its output, without values of the target.',
    adr: '0028-containers',
  },
  {
    id: 'pods-end-with-their-job',
    upstream: 'A pod runs on when the time of its job is over, or the job was interrupted.',
    here: 'It is deleted, with 30 seconds to end.',
    adr: '0028-containers',
  },
  {
    id: 'an-image-runs-once-per-job',
    upstream: 'Pods have random names; one that vanished is replaced within the job.',
    here: 'The name follows from the job, so none is created twice, and a job whose pod vanished fails.',
    adr: '0028-containers',
  },
  {
    id: 'container-accounts-are-narrow',
    upstream:
      'Accounts are named without the namespace of their item, last for ever, and may read all secrets.',
    here: 'They are named with it, have tokens that end, and roles that name what they are about.',
    adr: '0028-containers',
  },
  {
    id: 'only-whole-states-are-restored',
    upstream: 'Pieces of a state lose NUL bytes at their ends, and half a snapshot is restored.',
    here: 'Pieces are kept as they are; a snapshot without all its pieces does not count.',
    adr: '0028-containers',
  },
  {
    id: 'exports-of-containers-are-of-this-run',
    upstream: 'An image that writes nothing exports what an earlier run has written.',
    here: 'What an earlier run has written is removed before a pod starts.',
    adr: '0028-containers',
  },
  {
    id: 'replicas-divide-trees',
    upstream:
      'Replicas exclude each other per installation and execution by SyncObjects, with two writes per pass; who comes too late looks again after a minute.',
    here: 'Replicas that name the same --lease divide whole trees among them by Leases; SyncObjects are heeded and never written.',
    adr: '0026-replicas-share-the-work',
  },
  {
    id: 'handlebars',
    upstream: 'Templates are of type GoTemplate or Spiff.',
    here: 'Handlebars is a third type.',
    adr: '0022-templates-run-aside',
  },
  {
    id: 'templates-have-limits',
    upstream: 'A template runs as long as it likes, with all memory there is.',
    here: 'Time, output, steps and memory are limited; reaching a limit ends the job with the key that allows more.',
    adr: '0022-templates-run-aside',
  },
  {
    id: 'trees-have-a-depth',
    upstream: 'There is no documented limit on sub-installations of sub-installations.',
    here: 'An installation deeper than limits.treeDepth, 30 levels by default, creates nothing and fails with the key that allows more.',
    adr: '0034-trees-end',
  },
  {
    id: 'names-are-not-paths',
    upstream: 'A slash in the name of a Context, Secret or Target is tried again for ever.',
    here: 'The webhooks refuse it, and the job ends at once with the field and the name.',
    adr: '0033-secrets-stay-in-their-namespace',
  },
  {
    id: 'trees-have-a-size',
    upstream: 'There is no documented limit on the number of objects below a root.',
    here: 'An installation or execution whose tree would have more than limits.treeObjects objects, 10000 by default, creates nothing and fails with the key that allows more.',
    adr: '0034-trees-end',
  },
  {
    id: 'interrupts-last-as-long-as-their-job',
    upstream:
      'An interrupt is lost on an installation that is given its job a moment later, and the tree goes on growing.',
    here: 'Installations and executions note the interrupted job in an annotation; nothing below creates or starts anything in that job.',
    adr: '0034-trees-end',
  },
  {
    id: 'nothing-grows-below-a-deletion',
    upstream: 'There is no documented check of the installations above before sub-installations are created.',
    here: 'A job below an installation that is being deleted creates no new ones, and fails with the name of the installation that is being deleted.',
    adr: '0034-trees-end',
  },
  {
    id: 'no-secrets-in-names',
    upstream: 'A value of a secret can become the name of anything that a template renders.',
    here: 'The job fails before anything is created under such a name, with the import that the value came from.',
    adr: '0022-templates-run-aside',
  },
  {
    id: 'secrets-are-masked',
    upstream: 'Messages quote values that a template failed with, those of secrets and targets included.',
    here: 'They are replaced by [...].',
    adr: '0022-templates-run-aside',
  },
  {
    id: 'errors-name-the-execution',
    upstream: 'A template error does not say in which execution it happened.',
    here: 'Its last line does.',
    adr: '0022-templates-run-aside',
  },
  {
    id: 'spiff-has-no-way-to-the-host',
    upstream: 'Mappings may run commands and read files of the controller, executions read its environment.',
    here: 'Executions see the files of the blueprint, mappings none; there are no processes and no environment.',
    adr: '0024-spiff',
  },
  {
    id: 'spiff-catches-within-expressions',
    upstream: 'A call of catch within another Spiff expression never gets a value, and the document fails.',
    here: 'It is evaluated wherever it stands.',
    adr: '0024-spiff',
  },
  {
    id: 'spiff-keeps-dates-and-characters',
    upstream:
      'Spiff turns plain dates into other texts, and fails for some characters in values and for most in expressions.',
    here: 'Both stay as they are written.',
    adr: '0024-spiff',
  },
  {
    id: 'mistakes-in-manifests-end-the-job',
    upstream:
      'Unknown policies count as manage, unknown strategies and exports without an object are found out late or never.',
    here: 'They end the job before anything is made, as mistakes of the configuration.',
    adr: '0030-manifests',
  },
  {
    id: 'the-older-version-is-whole',
    upstream: 'Exports and deletion groups of configurations of version v1alpha1 are dropped.',
    here: 'They count.',
    adr: '0030-manifests',
  },
  {
    id: 'orphans-are-not-forgotten',
    upstream: 'An object that left the list while another one failed stays for ever.',
    here: 'It is remembered, and deleted when all others are applied.',
    adr: '0030-manifests',
  },
  {
    id: 'ignored-objects-are-released',
    upstream: 'An object whose policy changes from manage to ignore is deleted.',
    here: 'It stays as it is, and an event says that it was let go.',
    adr: '0030-manifests',
  },
  {
    id: 'continuous-reconcile-works',
    upstream: 'continuousReconcile is read and has no effect.',
    here: "The deployer runs jobs of the item's own when they are due, not while its execution is at work.",
    adr: '0030-manifests',
  },
  {
    id: 'timeouts-keep-the-cause',
    upstream:
      'A timeout replaces the problem that led to it; an item deleted meanwhile fails as if a deletion had been tried.',
    here: 'A second line tells the last problem, and the job of such an item ends with its own timeout.',
    adr: '0030-manifests',
  },
  {
    id: 'nothing-exported-is-a-map',
    upstream: 'A list of exports that yields nothing is exported as null.',
    here: 'It is exported as an empty map.',
    adr: '0030-manifests',
  },
  {
    id: 'exports-that-are-taken-out-go',
    upstream:
      'Exports that are taken out of a configuration stay in their secret, and are imported as before.',
    here: 'The secret and the reference to it go when the job has succeeded.',
    adr: '0030-manifests',
  },
  {
    id: 'manifests-as-they-are-meant',
    upstream:
      'Objects copied from a cluster are refused, lists within lists are unknown kinds, doubles overwrite each other at random.',
    here: 'Fields of the server are left out, lists are taken apart, the later double counts.',
    adr: '0030-manifests',
  },
  {
    id: 'what-controllers-complete-stays',
    upstream:
      'An update takes volume names from claims, claims from volumes, tokens from secrets and rules from aggregated roles.',
    here: 'They are carried over.',
    adr: '0030-manifests',
  },
  {
    id: 'policy-ensure',
    upstream: "There is no policy for an object that has to be there and is nobody's.",
    here: 'ensure makes it if it is not there, and never changes or deletes it.',
    adr: '0030-manifests',
  },
  {
    id: 'specs-are-not-rewritten',
    upstream: 'Defaults are written back into the spec of a deploy item, which raises its generation once.',
    here: 'A spec belongs to its user, so updateOnChangeOnly holds from the first repetition on.',
    adr: '0016-a-status-tells-of-its-own-object',
  },
  {
    id: 'credentials-are-read-again',
    upstream: 'Deployers ask for a token of a service account in every pass.',
    here: 'It is kept until 80 % of its life. Credentials that were kept and are refused are read again once in a job.',
    adr: '0029-clusters-are-asked-first',
  },
  {
    id: 'programs-in-kubeconfigs-are-refused',
    upstream:
      'An auth provider without settings passes the check of a target, and secondary targets are not checked at all.',
    here: 'Both are refused with the name of the program.',
    adr: '0029-clusters-are-asked-first',
  },
  {
    id: 'force-delete-tells-controllers',
    upstream: 'Deployers that are at work may begin to uninstall what force-delete is about to forget.',
    here: 'Everything is marked to be deleted without uninstalling first, and what stays on the targets is listed.',
    adr: '0029-clusters-are-asked-first',
  },
  {
    id: 'secrets-of-their-own-namespace',
    upstream: 'A Context may name a secret of any namespace for the keys of signatures.',
    here: 'The secret has to be in the namespace of the Context; otherwise the job fails before the secret is read.',
    adr: '0033-secrets-stay-in-their-namespace',
  },
  {
    id: 'sizes-are-limited',
    upstream: 'Deploy items, sub-installations, imports and paths in blueprints have no limit of their own.',
    here: 'They are counted before they are read; what is larger ends the job with a sentence that names the limit.',
    adr: '0035-what-tenants-write-is-bounded',
  },
  {
    id: 'the-one-in-use-stays',
    upstream:
      'When two deploy items or sub-installations exist for one template, the first one found is kept.',
    here: 'The one that is in use is kept, and one that did nothing yet is removed without being uninstalled.',
    adr: '0036-of-two-the-one-in-use-stays',
  },
];
