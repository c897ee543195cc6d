/** Cases in which the embedded server answers otherwise, and why that is so. Whoever closes a gap takes it off the list. */
const NO_CONTAINERS = 'exec, attach, port forwarding and proxies need nodes with containers; ours simulate them'

export const KNOWN_DIFFERENCES: Readonly<Record<string, string>> = {
  'discovery of the core': NO_CONTAINERS,
  'discovery of all at once': NO_CONTAINERS,
  'watch too far back':
    'the real server remembers a kind from the moment it first served it; ours has one history for all kinds, which still holds that version',
  'definition refuses a rule that is too dear':
    "a rule's cost is limited when it runs, and not estimated beforehand from the sizes that the schema allows",
  'refuse rules of scaling without a policy':
    'an empty list is dropped as it is read, where the field need not be there; the real server keeps it until it has looked at it',
  'error custom resources with deeper nesting':
    'ours takes 500 levels, the real server 10,000: what walks objects is recursive, and somewhere beyond 900 levels an apply runs out of stack',
  'discovery of schemas':
    'kinds and their fields have descriptions, as there; the parameters of requests have none, and the values of a map no default',
}
