async function attack() {
  for (;;);
}
