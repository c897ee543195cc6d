import { LabelMatcher, LabelSelectorError, type Labels } from '@tenure/kube/model'
import { badRequest } from '../../errors.ts'

/** Matches labels; undefined selects everything. */
export type LabelTest = (labels: Labels | undefined) => boolean

/** The label selector of a query. Fails with kube-apiserver's error. */
export function parseLabelSelector(text: string): LabelTest | undefined {
  const matcher = parse(text)
  return matcher.isEmpty ? undefined : (labels) => matcher.matches(labels)
}

function parse(text: string): LabelMatcher {
  try {
    return LabelMatcher.parse(text)
  } catch (error) {
    if (error instanceof LabelSelectorError) throw badRequest(error.serverMessage)
    throw error
  }
}
