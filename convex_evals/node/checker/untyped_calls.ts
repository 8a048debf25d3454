/**
 * Calls in JavaScript whose result has no type: the rule against floating promises goes by types, and a parameter has one there
 * only if a comment says so.
 */
import ts from "typescript";
import { isJavaScript } from "./files.ts";

/** Methods of collections and dates that give no promise, wherever the object came from. */
const IMMEDIATE = new Set(
  (
    "push pop shift unshift splice sort reverse fill copyWithin forEach set add clear append " +
    "setDate setFullYear setHours setMilliseconds setMinutes setMonth setSeconds setTime " +
    "setUTCDate setUTCFullYear setUTCHours setUTCMilliseconds setUTCMinutes setUTCMonth setUTCSeconds"
  ).split(" "),
);
/** What Convex's own `delete` is called on: other objects with one are maps and sets. */
const CONVEX = new Set(["db", "storage"]);

/** The name by which a property is read, or a variable. */
function nameOf(node: ts.Expression): string | undefined {
  if (ts.isIdentifier(node)) return node.text;
  if (ts.isPropertyAccessExpression(node)) return node.name.text;
  return ts.isElementAccessExpression(node) && ts.isStringLiteralLike(node.argumentExpression)
    ? node.argumentExpression.text
    : undefined;
}

function isImmediate({ expression }: ts.CallExpression): boolean {
  const name = nameOf(expression);
  if (name === undefined || ts.isIdentifier(expression)) return false;
  if (IMMEDIATE.has(name)) return true;
  const { expression: target } = expression as ts.PropertyAccessExpression | ts.ElementAccessExpression;
  return name === "delete" && !CONVEX.has(nameOf(target) ?? "");
}

/** Whether a rejection is handled where the call is made, as the rule accepts it. */
function isHandled({ expression, arguments: given }: ts.CallExpression): boolean {
  const name = nameOf(expression);
  if (ts.isIdentifier(expression)) return false;
  if ((name === "catch" && given.length > 0) || (name === "then" && given.length > 1)) return true;
  const { expression: target } = expression as ts.PropertyAccessExpression | ts.ElementAccessExpression;
  return name === "finally" && ts.isCallExpression(target) && isHandled(target);
}

/** What a statement leaves unused. */
function unused(node: ts.Expression): ts.Expression[] {
  if (ts.isParenthesizedExpression(node)) return unused(node.expression);
  if (ts.isConditionalExpression(node)) return [...unused(node.whenTrue), ...unused(node.whenFalse)];
  if (!ts.isBinaryExpression(node)) return [node];
  switch (node.operatorToken.kind) {
    case ts.SyntaxKind.CommaToken:
      return [...unused(node.left), ...unused(node.right)];
    case ts.SyntaxKind.AmpersandAmpersandToken:
    case ts.SyntaxKind.BarBarToken:
    case ts.SyntaxKind.QuestionQuestionToken:
      return unused(node.right);
    default:
      return [];
  }
}

/** Calls of a JavaScript file that may give a promise, which nothing awaits. */
export function untypedCalls(program: ts.Program, source: ts.SourceFile): ts.CallExpression[] {
  if (!isJavaScript(source.fileName)) return [];
  const types = program.getTypeChecker();
  const found: ts.CallExpression[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isExpressionStatement(node)) {
      for (const each of unused(node.expression)) {
        if (!ts.isCallExpression(each) || isImmediate(each) || isHandled(each)) continue;
        if (types.getTypeAtLocation(each).flags & ts.TypeFlags.Any) found.push(each);
      }
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}
