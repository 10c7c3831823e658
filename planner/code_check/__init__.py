"""What in a training script costs speed or memory: read with Python's `ast`, never run.

report = check(open("train.py").read())
for finding in report.findings:
    print(finding.line, finding.id, finding.fix)
"""
