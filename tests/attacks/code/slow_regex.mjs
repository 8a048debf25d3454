async function attack() {
  note(/^(a+)+$/.test("a".repeat(60) + "b"));
}
