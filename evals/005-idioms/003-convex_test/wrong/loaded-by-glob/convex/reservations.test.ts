/// <reference types="vite/client" />
import.meta.glob("../spec/*.mts", { eager: true });
