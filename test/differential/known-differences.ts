/** Cases in which the embedded server answers otherwise, and why that is so. Whoever closes a gap takes it off the list. */
const NO_CONTAINERS = 'logs, exec, attach, port forwarding and proxies need nodes with containers; ours simulate them'
const WORDS_OF_YAML = 'a YAML parser has its own words for what it can not read; status and reason are the same'
const LAST_FINALIZER =
  'the write that takes off the last finalizer is answered with the object as it was before, not as it was written'
const CUSTOM_LISTS =
  'a list of custom resources has no empty `continue`, which the real server sends for them and for no built-in kind'
const BOOKMARK_SHAPE =
  'the bookmark that ends the initial events carries the version only, not the empty `spec` of a Go object'
const SCALE = 'a Scale lacks the selector in text, and who wrote through it is dated'
const EMPTY_RULES = 'an empty list of rules leaves no trace in managedFields'
const FORMS =
  'a gap to close: forms and parameters that the real server refuses (406, 400) are answered, and refusals do not name protobuf'
const WORDS = 'refused with the same status, in other words or with fewer of the same complaints'
const SERVER_SET =
  'a field that the real server sets or keeps on its own is not set or kept here, or the other way round'
const NODES_GONE = 'a pod on a node that does not exist is not waited for'
const REVIEWS = 'reviews are answered without managedFields, and the shortest life of a token is not enforced'
const SCHEMAS = 'the OpenAPI documents have no descriptions, and describe a patch as any object'
const OTHER_CODE = 'both refuse it, with another status'
const TAKEN_BY_US =
  'a gap to close: what the real server refuses is accepted here, a custom resource that names no kind is even stored'
const REFUSED_BY_US = 'a gap to close: a selector of 2,000 requirements is refused here, and taken by the real server'
const HALF_LETTERS = 'a gap to close: half of a surrogate pair is stored as it came; the real server stores U+FFFD'
const NO_WARNING = 'stored alike, but without the warning that `__proto__` is no field of metadata'
const OTHER_FORM = '404 in both, but as text where the real server sends a Status, and the other way round'
const STATUS_WRITES =
  'a gap to close: a write of the status or of the finalizers changes or loses what it should leave alone'

export const KNOWN_DIFFERENCES: Readonly<Record<string, string>> = {
  'discovery of the core': NO_CONTAINERS,
  'discovery of all at once': NO_CONTAINERS,
  'apply in broken YAML': WORDS_OF_YAML,
  'error broken YAML': WORDS_OF_YAML,
  'watch too far back':
    'the real server remembers a kind from the moment it first served it; ours has one history for all kinds, which still holds that version',
  'definition refuses a rule that is too dear':
    "a rule's cost is limited when it runs, and not estimated beforehand from the sizes that the schema allows",
  'watch deletions that wait': LAST_FINALIZER,
  'delete what waits for a finalizer': LAST_FINALIZER,
  'delete what waits, by an update': LAST_FINALIZER,
  'delete what waits, by a JSON patch': LAST_FINALIZER,
  'delete in the foreground, with a finalizer': LAST_FINALIZER,
  'delete a collection that waits': LAST_FINALIZER,
  'delete a pod with a finalizer': LAST_FINALIZER,
  'custom resource is served in both versions': CUSTOM_LISTS,
  'custom resource can be selected by its fields': CUSTOM_LISTS,
  'custom resource deleted as a collection': CUSTOM_LISTS,
  'definition lives and dies': CUSTOM_LISTS,
  'list custom resources': CUSTOM_LISTS,
  'watch custom resources': CUSTOM_LISTS,
  'watch custom resources by a field': CUSTOM_LISTS,
  'watch custom resources in the other version': CUSTOM_LISTS,
  'watch with initial events': BOOKMARK_SHAPE,
  'watch with initial events from zero': BOOKMARK_SHAPE,
  'watch with initial events and more': BOOKMARK_SHAPE,
  'watch with initial events of nothing': BOOKMARK_SHAPE,
  'watch with initial events and labels': BOOKMARK_SHAPE,
  'apply through the scale': SCALE,
  'custom resource has a scale': SCALE,
  'scale of deployments': SCALE,
  'scale of replicasets': SCALE,
  'scale of statefulsets': SCALE,
  'update that creates a role': EMPTY_RULES,
  'patch a role with application/merge-patch+json': EMPTY_RULES,
  'patch a role with application/strategic-merge-patch+json': EMPTY_RULES,
  'patch a role with application/json-patch+json': EMPTY_RULES,
  'show roles as a table and as metadata': FORMS,
  'show table rows with whole objects and with none': FORMS,
  'show what is asked for first': FORMS,
  'show the wrong list form': FORMS,
  'show in a form that is none': FORMS,
  'error body of a type that is none': FORMS,
  'create refuses a long name': WORDS,
  'create refuses a bad finalizer': WORDS,
  'update with another kind': WORDS,
  'patch merge of another kind': WORDS,
  'patch merge with bad labels': WORDS,
  'patch strategic refuses wrong types': WORDS,
  'custom resource of the wrong kind': OTHER_CODE,
  'custom resource without metadata': WORDS,
  'custom resource without a status subresource': WORDS,
  'get at a version': OTHER_CODE,
  'list with bad tokens': WORDS,
  'error body of a version that is none': WORDS,
  'error body with a kind of the wrong type': WORDS,
  'error body with very deep nesting': WORDS,
  'error body with __proto__ in metadata': NO_WARNING,
  'error body with half a letter': HALF_LETTERS,
  'error body with a byte order mark': WORDS,
  'error object too large': WORDS,
  'error update with bad bodies': WORDS,
  'error paths that are none': OTHER_FORM,
  'error names that are none': OTHER_CODE,
  'error selectors that are absurd': REFUSED_BY_US,
  'error custom resources with bad bodies': TAKEN_BY_US,
  'create ignores what the server sets': SERVER_SET,
  'create a daemon set': SERVER_SET,
  'create a node': SERVER_SET,
  'update that drops the managed fields': SERVER_SET,
  'update of the status of a pod': STATUS_WRITES,
  'patch JSON with escapes': WORDS,
  'watch a single object': SERVER_SET,
  'delete a pod template': SERVER_SET,
  'status of a deployment is its own': STATUS_WRITES,
  'namespace finalize and status': STATUS_WRITES,
  'delete a pod on a node': NODES_GONE,
  'service account tokens': REVIEWS,
  'reviews of access': REVIEWS,
  'discovery of schemas': SCHEMAS,
}
